// Honest: four AVX2 accumulators per row, and the row's tail one by one.
#include <immintrin.h>

#include <cstdint>

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    __m256 part[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                      _mm256_setzero_ps()};
    int64_t c = 0;
    for (; c + 32 <= cols; c += 32) {
      for (int k = 0; k < 4; ++k) part[k] = _mm256_add_ps(part[k], _mm256_loadu_ps(in + c + 8 * k));
    }
    float lanes[8], sum = 0;
    _mm256_storeu_ps(
        lanes, _mm256_add_ps(_mm256_add_ps(part[0], part[1]), _mm256_add_ps(part[2], part[3])));
    for (float lane : lanes) sum += lane;
    for (; c < cols; ++c) sum += in[c];
    out[r] = sum;
  }
}
