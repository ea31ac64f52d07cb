// Tries: to write one element behind its output. Stopped by: a guard page, and canaries where there
// is none.
#include <stdint.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  volatile float* after = out + n;
  *after = 1.0f;
}
