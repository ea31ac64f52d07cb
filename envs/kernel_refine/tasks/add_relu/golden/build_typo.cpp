// expect: build_failed
// A name that was never declared.
#include <cstdint>

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float sum = x[i] + y[i];
    out[i] = summ > 0 ? sum : 0;
  }
}
