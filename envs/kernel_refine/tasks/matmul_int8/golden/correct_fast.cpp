// expect: correct speedup>1
// Widens both matrices to 16 bits once, then multiplies four columns at a time.
#include <cstdint>
#include <vector>

static void dot4(const int16_t* __restrict a, const int16_t* __restrict b, int64_t k, int32_t* out) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int64_t p = 0; p < k; ++p) {
    const int32_t v = a[p];
    s0 += v * b[p];
    s1 += v * b[p + k];
    s2 += v * b[p + 2 * k];
    s3 += v * b[p + 3 * k];
  }
  out[0] = s0;
  out[1] = s1;
  out[2] = s2;
  out[3] = s3;
}

extern "C" void matmul_int8(const int8_t* a, const int8_t* b, int32_t* c, int64_t m, int64_t n,
                            int64_t k) {
  const std::vector<int16_t> wide_a(a, a + m * k), wide_b(b, b + n * k);
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    for (int64_t i = 0; i < m; ++i) dot4(&wide_a[i * k], &wide_b[j * k], k, c + i * n + j);
  }
  for (; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[j * k + p];
      c[i * n + j] = sum;
    }
  }
}
