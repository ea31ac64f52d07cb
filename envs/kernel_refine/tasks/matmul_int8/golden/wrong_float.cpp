// expect: wrong
// Accumulates in floating point and rounds by adding a half and truncating, which is wrong below zero.
#include <cstdint>

extern "C" void matmul_int8(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n,
                            int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0.5f;
      for (int64_t p = 0; p < k; ++p) {
        sum += static_cast<float>(a[i * k + p]) * static_cast<float>(b[j * k + p]);
      }
      c[i * n + j] = static_cast<int32_t>(sum);
    }
  }
}
