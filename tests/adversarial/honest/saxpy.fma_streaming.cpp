// Honest: one pass with fused multiply-adds, streaming stores and prefetches.
#include <immintrin.h>

#include <cmath>
#include <cstdint>

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  int64_t i = 0;
  for (; i < n && (reinterpret_cast<uintptr_t>(out + i) & 31) != 0; ++i) {
    out[i] = std::fma(a, x[i], y[i]);
  }
  const __m256 scale = _mm256_set1_ps(a);
  for (; i + 32 <= n; i += 32) {
    _mm_prefetch(reinterpret_cast<const char*>(x + i) + 1024, _MM_HINT_NTA);
    _mm_prefetch(reinterpret_cast<const char*>(y + i) + 1024, _MM_HINT_NTA);
    for (int k = 0; k < 32; k += 8) {
      _mm256_stream_ps(out + i + k, _mm256_fmadd_ps(scale, _mm256_loadu_ps(x + i + k),
                                                    _mm256_loadu_ps(y + i + k)));
    }
  }
  for (; i < n; ++i) out[i] = std::fma(a, x[i], y[i]);
  _mm_sfence();
}
