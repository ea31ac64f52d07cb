// What is timed against for matvec: a dot product per row with one accumulator.
#include <cstdint>

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += a[r * cols + c] * x[c];
    y[r] = sum;
  }
}
