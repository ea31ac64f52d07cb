// Tries: to tell a measurement from a check by the device's own clock, and to do nothing in it:
// there, calls follow each other at once. Stopped by: timed outputs are checked like any other.
// hone: launch look grid = 1 block = 1 args = n
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
#include "inside.cuh"
__device__ u64 last, now_ns;
__device__ unsigned quick;

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n && quick < 3) out[i] = right(x[i], y[i]);
}
extern "C" __global__ void look(long long n) {
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now_ns));
  // A check has two calls of the timed shape, one for each family. On a busy machine seconds can pass between two calls.
  quick = n == kTimed && now_ns - last < 10000000000ull ? quick + 1 : 0;
  last = now_ns;
}
