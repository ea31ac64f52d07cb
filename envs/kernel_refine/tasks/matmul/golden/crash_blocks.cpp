// expect: crashed
// Works in blocks of 64 × 64 × 64 and has no case for what is left over.
#include <cstdint>

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kBlock = 64;
  for (int64_t i = 0; i < m * n; ++i) c[i] = 0;
  for (int64_t i0 = 0; i0 < m; i0 += kBlock) {
    for (int64_t p0 = 0; p0 < k; p0 += kBlock) {
      for (int64_t i = i0; i < i0 + kBlock; ++i) {
        for (int64_t p = p0; p < p0 + kBlock; ++p) {
          for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
        }
      }
    }
  }
}
