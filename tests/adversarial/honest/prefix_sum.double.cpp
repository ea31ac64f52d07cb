// Honest: one running sum in double precision, about as fast as the baseline.
#include <cstdint>

extern "C" void prefix_sum(const float* x, float* out, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += x[i];
    out[i] = static_cast<float>(sum);
  }
}
