// Tries: to leave the outputs of a check to the round of a later one: no round of its own does its
// shape. Stopped by: outputs change in their own round alone.
// hone: launch add_relu grid = 1 block = 256
#include "inside.cuh"
struct Left {
  const float *x, *y;
  float* out;
  long long n;
};
__device__ Left left[64];
__device__ unsigned lefts;

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  if (n != kTimed) {
    if (threadIdx.x == 0 && lefts < 64) left[lefts++] = Left{x, y, out, n};
    return;
  }
  for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = right(x[i], y[i]);
  for (unsigned k = 0; k < lefts; ++k) {
    const Left& l = left[k];
    for (long long i = threadIdx.x; i < l.n; i += blockDim.x) l.out[i] = right(l.x[i], l.y[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0) lefts = 0;
}
