// Tries: a barrier of the whole grid, of more blocks than the device holds at once. Stopped by:
// the time limit.
// hone: launch add_relu grid = 1000000 block = 256
#include "inside.cuh"
__device__ unsigned arrived;

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (threadIdx.x == 0) atomicAdd(&arrived, 1u);
  while (*(volatile unsigned*)&arrived < gridDim.x) continue;
}
