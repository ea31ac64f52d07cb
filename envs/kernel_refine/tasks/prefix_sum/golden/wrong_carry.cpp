// expect: wrong
// Scans blocks of 256 by themselves and forgets to carry from one to the next.
#include <cstdint>

extern "C" void prefix_sum(const float* x, float* out, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i % 256 == 0) sum = 0;
    out[i] = sum += x[i];
  }
}
