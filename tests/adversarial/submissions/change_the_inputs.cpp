// Tries: to use an input as scratch memory. Stopped by: inputs are compared with the judge's own
// copies.
#include <stdint.h>
extern "C" void add_relu(float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] += y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
