// Honest: halves the largest dimension until the block is small, with no tuned size (cache-oblivious).
#include <cstdint>

struct Sizes {
  int64_t m, n, k;
};

static void add(const float* a, const float* b, float* c, Sizes s, int64_t n, int64_t k) {
  if (s.m <= 32 && s.n <= 64 && s.k <= 64) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t p = 0; p < s.k; ++p) {
        const float scale = a[i * k + p];
        for (int64_t j = 0; j < s.n; ++j) c[i * n + j] += scale * b[p * n + j];
      }
    }
  } else if (s.n >= s.m && s.n >= s.k) {
    const int64_t half = s.n / 2;
    add(a, b, c, {s.m, half, s.k}, n, k);
    add(a, b + half, c + half, {s.m, s.n - half, s.k}, n, k);
  } else if (s.m >= s.k) {
    const int64_t half = s.m / 2;
    add(a, b, c, {half, s.n, s.k}, n, k);
    add(a + half * k, b, c + half * n, {s.m - half, s.n, s.k}, n, k);
  } else {
    const int64_t half = s.k / 2;
    add(a, b, c, {s.m, s.n, half}, n, k);
    add(a + half, b + half * n, c, {s.m, s.n, s.k - half}, n, k);
  }
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m * n; ++i) c[i] = 0;
  add(a, b, c, {m, n, k}, n, k);
}
