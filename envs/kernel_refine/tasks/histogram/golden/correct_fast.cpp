// expect: correct speedup>1
// Eight tables, so that equal neighbours do not wait for each other's increment; eight bytes per load.
#include <cstdint>
#include <cstring>

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  uint32_t table[8][256];
  std::memset(table, 0, sizeof table);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, x + i, 8);
    for (int k = 0; k < 8; ++k) ++table[k][(eight >> (8 * k)) & 255];
  }
  for (; i < n; ++i) ++table[0][x[i]];
  for (int v = 0; v < 256; ++v) {
    uint32_t sum = 0;
    for (int k = 0; k < 8; ++k) sum += table[k][v];
    counts[v] = static_cast<int32_t>(sum);
  }
}
