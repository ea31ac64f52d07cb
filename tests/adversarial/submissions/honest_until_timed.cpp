// Tries: to be right while it is checked and to do nothing while it is timed. Stopped by: the
// outputs of timed rounds are checked like any other.
#include <stdint.h>
static int large = 0;
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  if (n == 1048576 && ++large > 1) return;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
