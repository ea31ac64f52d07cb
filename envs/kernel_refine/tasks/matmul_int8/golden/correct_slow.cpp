// expect: correct speedup<1
// Right, but walks b down its columns and updates c in memory for every product.
#include <cstdint>

extern "C" void matmul_int8(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n,
                            int64_t k) {
  for (int64_t i = 0; i < m * n; ++i) c[i] = 0;
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[j * k + p];
    }
  }
}
