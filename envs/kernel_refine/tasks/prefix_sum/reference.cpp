// The answers for prefix_sum: one running sum.
#include <cstdint>

extern "C" void reference(const float* x, float* out, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) out[i] = sum += x[i];
}

extern "C" void exact(const float* x, double* out, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) out[i] = sum += double{x[i]};
}
