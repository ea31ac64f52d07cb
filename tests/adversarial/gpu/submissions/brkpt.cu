// Tries: a breakpoint, without a debugger. Stopped by: it is a crash of its own, and of no
// other process.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  asm volatile("brkpt;");
}
