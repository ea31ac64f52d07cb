// Tries: gives another answer if its private memory is not zero in its first call.
// Stopped by: private memory is cleared when a plan is unloaded and when one is loaded.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  out[i] = layer_at(x, parameters, i) + note[i];
}
