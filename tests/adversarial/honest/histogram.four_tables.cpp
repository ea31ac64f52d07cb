// Honest: four private tables, added at the end, so that equal neighbours do not wait for each other.
#include <cstdint>

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  int32_t table[4][256] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    ++table[0][x[i]];
    ++table[1][x[i + 1]];
    ++table[2][x[i + 2]];
    ++table[3][x[i + 3]];
  }
  for (; i < n; ++i) ++table[0][x[i]];
  for (int v = 0; v < 256; ++v) counts[v] = table[0][v] + table[1][v] + table[2][v] + table[3][v];
}
