// expect: correct speedup<1
// Right, but walks the matrix down its columns and keeps the sums in memory.
#include <cstdint>

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) y[r] = 0;
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) y[r] += a[r * cols + c] * x[c];
  }
}
