// Honest: compensated summation, with four dependent additions per element.
#include <cstdint>

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0, lost = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const float term = x[r * cols + c] - lost;
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    out[r] = sum;
  }
}
