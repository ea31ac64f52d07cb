// Honest: keeps eight best values with their columns in AVX2 registers and merges them per row.
#include <immintrin.h>

#include <cstdint>

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float best = in[0];
    int32_t where = 0;
    int64_t c = 0;
    if (cols >= 8) {
      __m256 tops = _mm256_loadu_ps(in);
      __m256i columns = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), at = columns;
      for (c = 8; c + 8 <= cols; c += 8) {
        const __m256 v = _mm256_loadu_ps(in + c);
        at = _mm256_add_epi32(at, _mm256_set1_epi32(8));
        const __m256 larger = _mm256_cmp_ps(v, tops, _CMP_GT_OQ);
        tops = _mm256_blendv_ps(tops, v, larger);
        columns = _mm256_blendv_epi8(columns, at, _mm256_castps_si256(larger));
      }
      float values[8];
      int32_t places[8];
      _mm256_storeu_ps(values, tops);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(places), columns);
      for (int k = 0; k < 8; ++k) {
        if (values[k] > best || (values[k] == best && places[k] < where)) {
          best = values[k];
          where = places[k];
        }
      }
    }
    for (; c < cols; ++c) {
      if (in[c] > best) {
        best = in[c];
        where = static_cast<int32_t>(c);
      }
    }
    out[r] = where;
  }
}
