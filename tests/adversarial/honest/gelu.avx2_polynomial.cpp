// Honest: approximates erf with a polynomial and an exponential in AVX2, padding the tail in a buffer.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

/// exp(-v) for v of 0 and more, with a relative error of about 2e-7; v is limited to 80.
static inline __m256 exp_of_minus(__m256 v) {
  v = _mm256_sub_ps(_mm256_setzero_ps(), _mm256_min_ps(v, _mm256_set1_ps(80.0f)));
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

static inline __m256 gelu_of(__m256 x) {
  const __m256 no_sign = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 z = _mm256_mul_ps(_mm256_and_ps(x, no_sign), _mm256_set1_ps(0.70710678f));
  const __m256 t = _mm256_div_ps(one, _mm256_fmadd_ps(z, _mm256_set1_ps(0.3275911f), one));
  __m256 p = _mm256_set1_ps(1.061405429f);
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-1.453152027f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(1.421413741f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.284496736f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.254829592f));
  const __m256 erfc = _mm256_mul_ps(_mm256_mul_ps(p, t), exp_of_minus(_mm256_mul_ps(z, z)));
  const __m256 half = _mm256_mul_ps(x, _mm256_set1_ps(0.5f));
  return _mm256_fmadd_ps(_mm256_and_ps(half, no_sign), _mm256_sub_ps(one, erfc), half);
}

extern "C" void gelu(const float* x, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256 low = gelu_of(_mm256_loadu_ps(x + i));
    const __m256 high = gelu_of(_mm256_loadu_ps(x + i + 8));
    _mm256_storeu_ps(out + i, low);
    _mm256_storeu_ps(out + i + 8, high);
  }
  for (; i < n; i += 8) {
    const size_t bytes = static_cast<size_t>(n - i < 8 ? n - i : 8) * sizeof(float);
    float buffer[8] = {};
    std::memcpy(buffer, x + i, bytes);
    _mm256_storeu_ps(buffer, gelu_of(_mm256_loadu_ps(buffer)));
    std::memcpy(out + i, buffer, bytes);
  }
}
