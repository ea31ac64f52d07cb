// The answers for matmul_int8; whole numbers, so both forms are the same.
#include <cstdint>

extern "C" void reference(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n,
                          int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += int32_t{a[i * k + p]} * int32_t{b[j * k + p]};
      c[i * n + j] = sum;
    }
  }
}

extern "C" void exact(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n, int64_t k) {
  reference(a, b, c, m, n, k);
}
