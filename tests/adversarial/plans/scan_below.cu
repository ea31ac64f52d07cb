// Tries: reads downwards from its input, to the words of the driver and of hone.
// Stopped by: memory that is not mapped faults.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float*) {
  int i = threadIdx.x;
  float sum = 0;
  for (const float* at = x;; --at) {
    sum += *at;
    if (sum == 0.12345f) out[i] = layer_at(x, parameters, i);
  }
}
