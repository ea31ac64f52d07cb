// expect: wrong
// Multiplies by the transpose of the matrix.
#include <cstdint>

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) y[r] = 0;
  for (int64_t i = 0; i < rows * cols; ++i) y[i % rows] += a[i] * x[i / rows];
}
