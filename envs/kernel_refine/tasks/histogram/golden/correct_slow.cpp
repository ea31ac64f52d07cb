// expect: correct speedup<1
// Right, but goes over the bytes once for every sixteen values.
#include <cstdint>

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  for (int v = 0; v < 256; ++v) counts[v] = 0;
  for (int group = 0; group < 16; ++group) {
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] / 16 == group) ++counts[x[i]];
    }
  }
}
