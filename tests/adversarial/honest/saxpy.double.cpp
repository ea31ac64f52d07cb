// Honest: computes in double precision and rounds once.
#include <cstdint>

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(static_cast<double>(a) * x[i] + static_cast<double>(y[i]));
  }
}
