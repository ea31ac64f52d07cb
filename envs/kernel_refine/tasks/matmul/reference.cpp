// The answers for matmul: rows of b scaled and added, so that memory is walked in order.
#include <cstdint>

namespace {

template <typename T>
void matmul_as(const float* a, const float* b, T* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    T* row = c + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = 0;
    for (int64_t p = 0; p < k; ++p) {
      const T scale = a[i * k + p];
      for (int64_t j = 0; j < n; ++j) row[j] += scale * static_cast<T>(b[p * n + j]);
    }
  }
}

}  // namespace

extern "C" void reference(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  matmul_as<float>(a, b, c, m, n, k);
}

extern "C" void exact(const float* a, const float* b, double* c, int64_t m, int64_t n, int64_t k) {
  matmul_as<double>(a, b, c, m, n, k);
}
