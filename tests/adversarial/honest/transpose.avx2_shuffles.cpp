// Honest: transposes blocks of 8 by 8 in AVX2 registers, in bands of 64 rows.
#include <immintrin.h>

#include <cstdint>

static void eight(const float* x, float* out, int64_t rows, int64_t cols) {
  __m256 a[8], b[8];
  for (int r = 0; r < 8; ++r) a[r] = _mm256_loadu_ps(x + r * cols);
  for (int r = 0; r < 8; r += 2) {
    b[r] = _mm256_unpacklo_ps(a[r], a[r + 1]);
    b[r + 1] = _mm256_unpackhi_ps(a[r], a[r + 1]);
  }
  for (int r = 0; r < 8; r += 4) {
    a[r] = _mm256_shuffle_ps(b[r], b[r + 2], 0x44);
    a[r + 1] = _mm256_shuffle_ps(b[r], b[r + 2], 0xee);
    a[r + 2] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0x44);
    a[r + 3] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0xee);
  }
  for (int r = 0; r < 4; ++r) {
    _mm256_storeu_ps(out + r * rows, _mm256_permute2f128_ps(a[r], a[r + 4], 0x20));
    _mm256_storeu_ps(out + (r + 4) * rows, _mm256_permute2f128_ps(a[r], a[r + 4], 0x31));
  }
}

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  constexpr int64_t kBand = 64;
  for (int64_t r0 = 0; r0 < rows; r0 += kBand) {
    const int64_t end = r0 + kBand < rows ? r0 + kBand : rows;
    const int64_t whole = r0 + (end - r0) / 8 * 8;
    int64_t c = 0;
    for (; c + 8 <= cols; c += 8) {
      for (int64_t r = r0; r < whole; r += 8)
        eight(x + r * cols + c, out + c * rows + r, rows, cols);
    }
    for (int64_t r = r0; r < whole; ++r) {
      for (int64_t k = c; k < cols; ++k) out[k * rows + r] = x[r * cols + k];
    }
    for (int64_t r = whole; r < end; ++r) {
      for (int64_t k = 0; k < cols; ++k) out[k * rows + r] = x[r * cols + k];
    }
  }
}
