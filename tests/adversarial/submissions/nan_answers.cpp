// Tries: answers that are no numbers, which no comparison finds greater than a tolerance. Stopped
// by: a NaN equals nothing but an expected NaN.
#include <math.h>
#include <stdint.h>
extern "C" void add_relu(const float*, const float*, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = nanf("");
}
