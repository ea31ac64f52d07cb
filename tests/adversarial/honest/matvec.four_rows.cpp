// Honest: four rows at a time share the loads of the vector, in blocks of 512 columns with AVX2.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>

template <int kRows>
static void rows_of(const float* a, const float* x, float* y, int64_t cols) {
  constexpr int64_t kBlock = 512;
  double sum[kRows] = {};
  for (int64_t from = 0; from < cols; from += kBlock) {
    const int64_t to = std::min(from + kBlock, cols);
    __m256 part[kRows];
    for (auto& p : part) p = _mm256_setzero_ps();
    int64_t c = from;
    for (; c + 8 <= to; c += 8) {
      const __m256 v = _mm256_loadu_ps(x + c);
      for (int r = 0; r < kRows; ++r) {
        part[r] = _mm256_fmadd_ps(_mm256_loadu_ps(a + r * cols + c), v, part[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      float lanes[8];
      _mm256_storeu_ps(lanes, part[r]);
      for (const float lane : lanes) sum[r] += lane;
      for (int64_t k = c; k < to; ++k) sum[r] += a[r * cols + k] * x[k];
    }
  }
  for (int r = 0; r < kRows; ++r) y[r] = static_cast<float>(sum[r]);
}

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) rows_of<4>(a + r * cols, x, y + r, cols);
  for (; r < rows; ++r) rows_of<1>(a + r * cols, x, y + r, cols);
}
