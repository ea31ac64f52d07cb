// What is timed against for matmul_int8: one dot product per element, whose inner loop the compiler vectorises.
#include <cstdint>

extern "C" void matmul_int8(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n,
                            int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[j * k + p];
      c[i * n + j] = sum;
    }
  }
}
