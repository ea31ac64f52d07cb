// expect: wrong
// Multiplies where it should add.
#include <cstdint>

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i] * y[i];
    out[i] = v > 0 ? v : 0;
  }
}
