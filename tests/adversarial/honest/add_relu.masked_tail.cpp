// Honest: handles the tail with masked loads and stores, whose masked lanes may lie past the array.
#include <immintrin.h>

#include <cstdint>

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  int64_t i = 0;
  const __m256 zero = _mm256_setzero_ps();
  for (; i + 8 <= n; i += 8) {
    const __m256 sum = _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i));
    _mm256_storeu_ps(out + i, _mm256_max_ps(sum, zero));
  }
  if (i == n) return;
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n - i)), lanes);
  const __m256 sum =
      _mm256_add_ps(_mm256_maskload_ps(x + i, mask), _mm256_maskload_ps(y + i, mask));
  _mm256_maskstore_ps(out + i, mask, _mm256_max_ps(sum, zero));
}
