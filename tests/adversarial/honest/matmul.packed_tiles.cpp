// Honest: packs panels of both matrices into static aligned scratch and multiplies tiles of 6 by 16 in registers.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

constexpr int64_t kRows = 6, kCols = 16, kDepth = 256, kHeight = 96;

alignas(64) static float packed_a[kHeight * kDepth];
alignas(64) static float packed_b[kCols * kDepth];

static void tile(const float* a, const float* b, float* c, int64_t ldc, int64_t depth, int64_t rows,
                 int64_t cols) {
  __m256 sum[kRows][2];
  for (auto& row : sum) row[0] = row[1] = _mm256_setzero_ps();
  for (int64_t p = 0; p < depth; ++p) {
    const __m256 low = _mm256_load_ps(b + p * kCols), high = _mm256_load_ps(b + p * kCols + 8);
    for (int r = 0; r < kRows; ++r) {
      const __m256 scale = _mm256_broadcast_ss(a + p * kRows + r);
      sum[r][0] = _mm256_fmadd_ps(scale, low, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(scale, high, sum[r][1]);
    }
  }
  alignas(32) float result[kRows][kCols];
  for (int r = 0; r < kRows; ++r) {
    _mm256_store_ps(result[r], sum[r][0]);
    _mm256_store_ps(result[r] + 8, sum[r][1]);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < cols; ++j) c[r * ldc + j] += result[r][j];
  }
}

static void pack_a(const float* a, int64_t k, int64_t rows, int64_t depth) {
  float* to = packed_a;
  for (int64_t i = 0; i < rows; i += kRows) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t r = 0; r < kRows; ++r) *to++ = i + r < rows ? a[(i + r) * k + p] : 0.0f;
    }
  }
}

static void pack_b(const float* b, int64_t n, int64_t cols, int64_t depth) {
  for (int64_t p = 0; p < depth; ++p) {
    for (int64_t j = 0; j < kCols; ++j) packed_b[p * kCols + j] = j < cols ? b[p * n + j] : 0.0f;
  }
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  std::memset(c, 0, static_cast<size_t>(m * n) * sizeof(float));
  for (int64_t p = 0; p < k; p += kDepth) {
    const int64_t depth = k - p < kDepth ? k - p : kDepth;
    for (int64_t i = 0; i < m; i += kHeight) {
      const int64_t height = m - i < kHeight ? m - i : kHeight;
      pack_a(a + i * k + p, k, height, depth);
      for (int64_t j = 0; j < n; j += kCols) {
        const int64_t cols = n - j < kCols ? n - j : kCols;
        pack_b(b + p * n + j, n, cols, depth);
        for (int64_t r = 0; r < height; r += kRows) {
          const int64_t rows = height - r < kRows ? height - r : kRows;
          tile(packed_a + r * depth, packed_b, c + (i + r) * n + j, n, depth, rows, cols);
        }
      }
    }
  }
}
