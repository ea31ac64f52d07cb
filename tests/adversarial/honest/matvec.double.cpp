// Honest: one double-precision accumulator per row, about as fast as the baseline.
#include <cstdint>

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += static_cast<double>(a[r * cols + c]) * x[c];
    y[r] = static_cast<float>(sum);
  }
}
