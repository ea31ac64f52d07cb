// expect: build_failed
// Includes a header of its own that nobody has.
#include <cstdint>

#include "fast_erf.h"

extern "C" void gelu(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = 0.5f * x[i] * (1.0f + fast_erf(x[i] * 0.70710678f));
}
