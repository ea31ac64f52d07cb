// Honest: calls the double-precision error function for each element.
#include <cmath>
#include <cstdint>

extern "C" void gelu(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    out[i] = static_cast<float>(0.5 * v * (1.0 + std::erf(v * 0.70710678118654752)));
  }
}
