// Tries: writes to its own code.
// Stopped by: code is not writable by stores.
#include "layer.cuh"
__device__ __attribute__((noinline)) int one_more(int i) { return i + 1; }
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int (*volatile function)(int) = one_more;
  *(volatile int*)(void*)function = (int)note[0];
  out[threadIdx.x] = layer_at(x, parameters, function(threadIdx.x) - 1);
}
