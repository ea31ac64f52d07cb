// expect: correct speedup>1
// Blocks of 4 × 16 of c stay in registers while p runs; the edges are done plainly.
#include <cstdint>

typedef float f8 __attribute__((vector_size(32), aligned(4)));

static inline f8 load(const float* p) { return *reinterpret_cast<const f8*>(p); }

static void block(const float* a, const float* b, float* c, int64_t n, int64_t k) {
  f8 sum[4][2] = {};
  for (int64_t p = 0; p < k; ++p) {
    const f8 low = load(b + p * n), high = load(b + p * n + 8);
    for (int r = 0; r < 4; ++r) {
      const float scale = a[r * k + p];
      sum[r][0] += scale * low;
      sum[r][1] += scale * high;
    }
  }
  for (int r = 0; r < 4; ++r) {
    *reinterpret_cast<f8*>(c + r * n) = sum[r][0];
    *reinterpret_cast<f8*>(c + r * n + 8) = sum[r][1];
  }
}

static void edge(const float* a, const float* b, float* c, int64_t i, int64_t j0, int64_t n,
                 int64_t k) {
  for (int64_t j = j0; j < n; ++j) {
    float sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
    c[i * n + j] = sum;
  }
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) block(a + i * k, b + j, c + i * n + j, n, k);
    for (int64_t r = i; r < i + 4; ++r) edge(a, b, c, r, j, n, k);
  }
  for (; i < m; ++i) edge(a, b, c, i, 0, n, k);
}
