// Honest: accumulates each row of the product in double precision in a heap buffer.
#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  std::vector<double> sum(static_cast<size_t>(n));
  for (int64_t i = 0; i < m; ++i) {
    for (double& s : sum) s = 0;
    for (int64_t p = 0; p < k; ++p) {
      const double scale = a[i * k + p];
      for (int64_t j = 0; j < n; ++j) sum[j] += scale * b[p * n + j];
    }
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = static_cast<float>(sum[j]);
  }
}
