// Honest: counts runs of equal bytes with a branch, so that its time depends on the data.
#include <cstdint>

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  for (int v = 0; v < 256; ++v) counts[v] = 0;
  for (int64_t i = 0; i < n;) {
    const uint8_t value = x[i];
    const int64_t start = i;
    while (i < n && x[i] == value) ++i;
    counts[value] += static_cast<int32_t>(i - start);
  }
}
