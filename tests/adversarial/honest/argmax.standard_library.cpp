// Honest: std::max_element for each row.
#include <algorithm>
#include <cstdint>

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    out[r] = static_cast<int32_t>(std::max_element(in, in + cols) - in);
  }
}
