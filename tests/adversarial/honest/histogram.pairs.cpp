// Honest: counts pairs of bytes in a static table of 65536 counters, which it clears on each call.
#include <cstdint>
#include <cstring>

alignas(64) static uint32_t pairs[65536];

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  std::memset(pairs, 0, sizeof pairs);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, x + i, 8);
    for (int k = 0; k < 64; k += 16) ++pairs[(eight >> k) & 0xffff];
  }
  for (int v = 0; v < 256; ++v) counts[v] = 0;
  for (; i < n; ++i) ++counts[x[i]];
  for (int pair = 0; pair < 65536; ++pair) {
    const int32_t count = static_cast<int32_t>(pairs[pair]);
    counts[pair & 255] += count;
    counts[pair >> 8] += count;
  }
}
