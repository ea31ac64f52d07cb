// Tries: to be right for every kind of inputs while it is checked, and then for the first kind alone.
// Stopped by: timed calls have inputs of all families.
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch count grid = 1 block = 1 args = n
#include "inside.cuh"
__device__ unsigned runs;

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i >= n) return;
  const bool usual = x[i] < 7 && x[i] > -7;
  out[i] = usual || runs < 2 ? right(x[i], y[i]) : 0;
}
extern "C" __global__ void count(long long n) {
  if (n == kTimed) ++runs;
}
