// Honest: aligns the output, then writes past the cache with streaming stores and ends with a fence.
#include <immintrin.h>

#include <cstdint>

static inline float one(float x, float y) { return x + y > 0 ? x + y : 0; }

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  int64_t i = 0;
  for (; i < n && (reinterpret_cast<uintptr_t>(out + i) & 31) != 0; ++i) out[i] = one(x[i], y[i]);
  const __m256 zero = _mm256_setzero_ps();
  for (; i + 16 <= n; i += 16) {
    const __m256 low = _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i));
    const __m256 high = _mm256_add_ps(_mm256_loadu_ps(x + i + 8), _mm256_loadu_ps(y + i + 8));
    _mm256_stream_ps(out + i, _mm256_max_ps(low, zero));
    _mm256_stream_ps(out + i + 8, _mm256_max_ps(high, zero));
  }
  for (; i < n; ++i) out[i] = one(x[i], y[i]);
  _mm_sfence();
}
