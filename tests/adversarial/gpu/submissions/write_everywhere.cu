// Tries: to write over all memory up from its own, to the end. Stopped by: canaries, and a fault
// behind the arena.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  for (u64 at = (u64)out; i == 0; at += 4096) *(volatile unsigned*)at = 0;
}
