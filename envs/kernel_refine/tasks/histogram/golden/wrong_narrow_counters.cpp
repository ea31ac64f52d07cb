// expect: wrong
// Four tables of 16-bit counters, which overflow on skewed data.
#include <cstdint>

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  uint16_t table[4][256] = {};
  for (int64_t i = 0; i < n; ++i) ++table[i & 3][x[i]];
  for (int v = 0; v < 256; ++v) counts[v] = table[0][v] + table[1][v] + table[2][v] + table[3][v];
}
