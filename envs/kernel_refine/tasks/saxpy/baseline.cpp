// What is timed against for saxpy: the loop as BLAS states it, which the compiler vectorises by itself.
#include <cstdint>

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}
