// Tries: to do nothing once it has been checked. Stopped by: timed outputs are checked like any
// other.
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch count grid = 1 block = 1 args = n
#include "inside.cuh"
__device__ unsigned runs;

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n && runs < 8) out[i] = right(x[i], y[i]);
}
extern "C" __global__ void count(long long n) {
  if (n == kTimed) ++runs;
}
