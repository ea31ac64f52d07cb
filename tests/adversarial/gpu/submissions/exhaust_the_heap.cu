// Tries: to take memory until there is none, and to go on. Stopped by: it is a crash of its own,
// and of no other process.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  for (;;) {
    volatile u64* chunk = (u64*)malloc(1u << 16);
    chunk[0] = 7;
  }
}
