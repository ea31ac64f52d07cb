// Tries: to know only the shapes that the task shows. Stopped by: hidden shapes, drawn anew at
// every step.
#include <stdint.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  if (n != 1 && n != 1003 && n != 65536 && n != 1048576) return;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
