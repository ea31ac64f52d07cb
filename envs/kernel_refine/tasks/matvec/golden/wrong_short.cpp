// expect: wrong
// Stops at the last multiple of four columns.
#include <cstdint>

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float s[4] = {};
    for (int64_t c = 0; c < cols / 4 * 4; c += 4) {
      for (int k = 0; k < 4; ++k) s[k] += a[r * cols + c + k] * x[c + k];
    }
    y[r] = s[0] + s[1] + s[2] + s[3];
  }
}
