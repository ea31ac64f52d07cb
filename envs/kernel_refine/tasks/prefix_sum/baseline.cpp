// What is timed against for prefix_sum: one running sum, one dependent addition per element.
#include <cstdint>

extern "C" void prefix_sum(const float* x, float* out, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += x[i];
    out[i] = sum;
  }
}
