// Honest: adds column by column in long double, which reads memory with a long stride and is many times slower.
#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  std::vector<long double> sum(static_cast<size_t>(rows));
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) sum[r] += x[r * cols + c];
  }
  for (int64_t r = 0; r < rows; ++r) out[r] = static_cast<float>(sum[r]);
}
