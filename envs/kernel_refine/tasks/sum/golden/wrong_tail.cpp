// expect: wrong
// Eight accumulators, but the last cols % 8 elements of each row are left out.
#include <cstdint>

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float part[8] = {};
    for (int64_t c = 0; c + 8 <= cols; c += 8) {
      for (int k = 0; k < 8; ++k) part[k] += x[r * cols + c + k];
    }
    float sum = 0;
    for (float p : part) sum += p;
    out[r] = sum;
  }
}
