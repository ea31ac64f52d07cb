// expect: wrong
// Keeps the scalar of the first call, as if it were a constant of the problem.
#include <cstdint>

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  static const float first = a;
  for (int64_t i = 0; i < n; ++i) out[i] = first * x[i] + y[i];
}
