// Honest: one element per iteration, with vectorisation turned off.
#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize")
#endif

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}
