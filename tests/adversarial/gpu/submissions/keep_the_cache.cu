// Tries: to keep its inputs in the cache beyond a round by hints to it, and its outputs' lines
// dirty. Stopped by: inputs are new in every round, and the caches are written over before it.
#include "inside.cuh"
__device__ u64 policy() {
  u64 made;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(made));
  return made;
}
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i >= n) return;
  float a, b;
  asm volatile("ld.global.L1::evict_last.L2::cache_hint.f32 %0, [%1], %2;"
               : "=f"(a)
               : "l"(x + i), "l"(policy()));
  asm volatile("ld.global.L1::evict_last.L2::cache_hint.f32 %0, [%1], %2;"
               : "=f"(b)
               : "l"(y + i), "l"(policy()));
  out[i] = right(a, b);
}
