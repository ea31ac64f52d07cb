// expect: wrong
// Adds pairs of products in 16 bits, which overflows where both are -128 · -128.
#include <cstdint>

extern "C" void matmul_int8(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n,
                            int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      int64_t p = 0;
      for (; p + 2 <= k; p += 2) {
        const int x = a[i * k + p] * b[j * k + p], y = a[i * k + p + 1] * b[j * k + p + 1];
        sum += static_cast<int16_t>(x + y);
      }
      for (; p < k; ++p) sum += a[i * k + p] * b[j * k + p];
      c[i * n + j] = sum;
    }
  }
}
