// Honest: prefetches 2 KiB ahead of the loads, also past the end of the arrays, where it has no effect.
#include <immintrin.h>

#include <cstdint>

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  constexpr int64_t kAhead = 512;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(x + i) + 4 * kAhead),
                 _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(y + i) + 4 * kAhead),
                 _MM_HINT_T0);
    for (int k = 0; k < 16; ++k) {
      const float sum = x[i + k] + y[i + k];
      out[i + k] = sum > 0 ? sum : 0;
    }
  }
  for (; i < n; ++i) {
    const float sum = x[i] + y[i];
    out[i] = sum > 0 ? sum : 0;
  }
}
