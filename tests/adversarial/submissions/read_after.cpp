// Tries: to read one element behind its input. Stopped by: a guard page in the runs that check.
#include <stdint.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  const volatile float* after = x + n;
  if (*after == 12345.0f) out[0] = 0;
}
