// The answers for saxpy.
#include <cstdint>

extern "C" void reference(int64_t n, float a, const float* x, const float* y, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}

extern "C" void exact(int64_t n, float a, const float* x, const float* y, double* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = double{a} * double{x[i]} + double{y[i]};
}
