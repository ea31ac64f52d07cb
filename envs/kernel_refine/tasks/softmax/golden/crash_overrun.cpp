// expect: crashed
// Rounds the number of columns up to a multiple of 4096 and reads that far.
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  const int64_t padded = (cols + 4095) / 4096 * 4096;
  for (int64_t r = 0; r < rows; ++r) {
    float top = x[r * cols];
    for (int64_t c = 0; c < padded; ++c) top = x[r * cols + c] > top ? x[r * cols + c] : top;
    float sum = 0;
    for (int64_t c = 0; c < padded; ++c) sum += out[r * cols + c] = expf(x[r * cols + c] - top);
    for (int64_t c = 0; c < padded; ++c) out[r * cols + c] /= sum;
  }
}
