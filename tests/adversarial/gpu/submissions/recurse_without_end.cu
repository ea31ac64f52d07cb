// Tries: to use up its stack. Stopped by: it is a crash of its own, and of no other process.
#include "inside.cuh"
__device__ __noinline__ int deeper(long long n) {
  volatile int here[256];
  here[n & 255] = (int)n;
  return n < 0 ? 0 : deeper(n + 1) + here[(n + 1) & 255];
}
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]) + (float)deeper(n) * 0;
}
