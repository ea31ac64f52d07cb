// expect: wrong
// Writes the exclusive scan: each sum leaves its own element out.
#include <cstdint>

extern "C" void prefix_sum(const float* x, float* out, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = sum;
    sum += x[i];
  }
}
