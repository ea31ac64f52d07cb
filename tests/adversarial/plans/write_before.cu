// Tries: writes one element before the output.
// Stopped by: canaries.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float*) {
  int i = threadIdx.x;
  out[i] = layer_at(x, parameters, i);
  if (i == 0) out[-1] = 1;
}
