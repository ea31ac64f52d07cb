// Honest: a copy of the baseline.
#include <cstdint>

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t p = 0; p < k; ++p) {
      const float scale = a[i * k + p];
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += scale * b[p * n + j];
    }
  }
}
