// Honest: sums in 64 bits with vectorisation turned off, many times slower than the baseline.
#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize")
#endif

extern "C" void matmul_int8(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n,
                            int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += int64_t{a[i * k + p]} * int64_t{b[j * k + p]};
      c[i * n + j] = static_cast<int32_t>(sum);
    }
  }
}
