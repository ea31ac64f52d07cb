// Honest: four rows at a time share the loads of the vector, with AVX2 and fused multiply-adds.
#include <immintrin.h>

#include <cstdint>

template <int kRows>
static void rows_of(const float* a, const float* x, float* y, int64_t cols) {
  __m256 part[kRows];
  for (auto& p : part) p = _mm256_setzero_ps();
  int64_t c = 0;
  for (; c + 8 <= cols; c += 8) {
    const __m256 v = _mm256_loadu_ps(x + c);
    for (int r = 0; r < kRows; ++r) {
      part[r] = _mm256_fmadd_ps(_mm256_loadu_ps(a + r * cols + c), v, part[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float lanes[8], sum = 0;
    _mm256_storeu_ps(lanes, part[r]);
    for (float lane : lanes) sum += lane;
    for (int64_t k = c; k < cols; ++k) sum += a[r * cols + k] * x[k];
    y[r] = sum;
  }
}

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) rows_of<4>(a + r * cols, x, y + r, cols);
  for (; r < rows; ++r) rows_of<1>(a + r * cols, x, y + r, cols);
}
