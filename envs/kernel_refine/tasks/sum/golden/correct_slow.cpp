// expect: correct speedup<1
// Right, and more precise than asked: Kahan's compensated sum, four dependent operations per element.
#include <cstdint>

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0, lost = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const float y = x[r * cols + c] - lost;
      const float t = sum + y;
      lost = (t - sum) - y;
      sum = t;
    }
    out[r] = sum;
  }
}
