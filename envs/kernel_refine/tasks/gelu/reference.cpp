// The answers for gelu; the exact form uses erfc, which does not cancel for negative x.
#include <cmath>
#include <cstdint>

extern "C" void reference(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" void exact(const float* x, double* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    out[i] = 0.5 * v * std::erfc(-v * 0.70710678118654752440);
  }
}
