// Honest: finds maximum, exponentials and sum of each row with AVX2, and the row's tail in scalar code.
#include <immintrin.h>

#include <cmath>
#include <cstdint>

/// exp(v) for v of 0 and less; v is limited to -87.
static inline __m256 exponential(__m256 v) {
  v = _mm256_max_ps(v, _mm256_set1_ps(-87.0f));
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(v, _mm256_set1_ps(1.44269504f)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), v);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
  __m256 p = _mm256_set1_ps(1.9875691500e-4f);
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
  p = _mm256_fmadd_ps(_mm256_mul_ps(p, r), r, _mm256_add_ps(r, _mm256_set1_ps(1.0f)));
  const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}

static void row(const float* in, float* out, int64_t cols) {
  float lanes[8];
  float top = in[0];
  int64_t c = 0;
  __m256 tops = _mm256_set1_ps(top);
  for (; c + 8 <= cols; c += 8) tops = _mm256_max_ps(tops, _mm256_loadu_ps(in + c));
  _mm256_storeu_ps(lanes, tops);
  for (float lane : lanes) top = lane > top ? lane : top;
  for (; c < cols; ++c) top = in[c] > top ? in[c] : top;

  __m256 sums = _mm256_setzero_ps();
  const __m256 tops_again = _mm256_set1_ps(top);
  for (c = 0; c + 8 <= cols; c += 8) {
    const __m256 e = exponential(_mm256_sub_ps(_mm256_loadu_ps(in + c), tops_again));
    _mm256_storeu_ps(out + c, e);
    sums = _mm256_add_ps(sums, e);
  }
  _mm256_storeu_ps(lanes, sums);
  float sum = 0;
  for (float lane : lanes) sum += lane;
  for (; c < cols; ++c) sum += out[c] = expf(in[c] - top);

  const float scale = 1.0f / sum;
  for (c = 0; c < cols; ++c) out[c] *= scale;
}

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) row(x + r * cols, out + r * cols, cols);
}
