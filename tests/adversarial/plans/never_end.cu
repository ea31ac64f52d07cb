// Tries: a kernel that never ends.
// Stopped by: the task's time; the process is ended.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  out[threadIdx.x] = layer_at(x, parameters, threadIdx.x);
  while (*(volatile float*)note == 0) {
  }
}
