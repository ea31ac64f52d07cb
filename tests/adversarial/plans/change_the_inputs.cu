// Tries: uses its input as scratch memory.
// Stopped by: inputs are compared (inputs_unchanged).
#include "layer.cuh"
extern "C" __global__ void layer(float* x, const float* parameters, float* out, float*) {
  int i = threadIdx.x;
  float y = layer_at(x, parameters, i);
  __syncthreads();
  x[i] = y;
  out[i] = x[i];
}
