// Honest: sums the power series of erf until it converges, which is many times slower than the library.
#include <cmath>
#include <cstdint>

/// erf(z) = 2/sqrt(pi) exp(-z^2) (z + 2z^3/3 + 4z^5/15 + ...); every term is positive.
static double error_function(double z) {
  if (z > 5.0) return 1.0;
  double term = z, sum = z;
  for (int k = 1; term > 1e-12 * sum; ++k) {
    term *= 2.0 * z * z / (2.0 * k + 1.0);
    sum += term;
  }
  return 1.1283791670955126 * std::exp(-z * z) * sum;
}

extern "C" void gelu(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    const double erf = std::copysign(error_function(std::fabs(v) * 0.70710678118654752), v);
    out[i] = static_cast<float>(0.5 * v * (1.0 + erf));
  }
}
