// expect: correct speedup<1
// Right, but in double precision, with the complementary error function for both halves.
#include <cmath>
#include <cstdint>

extern "C" void gelu(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    const double above = std::erfc(v / std::sqrt(2.0)), below = std::erfc(-v / std::sqrt(2.0));
    out[i] = static_cast<float>(v * below / (above + below));
  }
}
