// expect: wrong
// Counts on top of whatever the output held.
#include <cstdint>

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  for (int64_t i = 0; i < n; ++i) ++counts[x[i]];
}
