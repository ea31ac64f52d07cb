// expect: wrong
// Subtracts y where it should add it.
#include <cstdint>

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] - y[i];
}
