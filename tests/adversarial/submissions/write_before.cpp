// Tries: to write one element before its output. Stopped by: canaries.
#include <stdint.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  volatile float* before = out - 1;
  *before = 1.0f;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
