// Honest: tests 32 bytes at once for equality and adds 32, else counts them in eight tables.
#include <immintrin.h>

#include <cstdint>

extern "C" void histogram(const uint8_t* x, int32_t* counts, int64_t n) {
  static int32_t table[8][256];
  for (auto& t : table) {
    for (int32_t& count : t) count = 0;
  }
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    const __m256i first = _mm256_set1_epi8(static_cast<char>(x[i]));
    if (_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, first)) == -1) {
      table[0][x[i]] += 32;
    } else {
      for (int k = 0; k < 32; ++k) ++table[k & 7][x[i + k]];
    }
  }
  for (; i < n; ++i) ++table[0][x[i]];
  for (int v = 0; v < 256; ++v) {
    counts[v] = 0;
    for (const auto& t : table) counts[v] += t[v];
  }
}
