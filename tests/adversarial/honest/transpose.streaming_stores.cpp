// Honest: turns tiles of 16 by 16 in a buffer and writes whole cache lines with streaming stores.
#include <immintrin.h>

#include <cstdint>

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  constexpr int64_t kTile = 16;
  for (int64_t c0 = 0; c0 < cols; c0 += kTile) {
    for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
      const int64_t height = rows - r0 < kTile ? rows - r0 : kTile;
      const int64_t width = cols - c0 < kTile ? cols - c0 : kTile;
      alignas(32) float tile[kTile][kTile];
      for (int64_t r = 0; r < height; ++r) {
        for (int64_t c = 0; c < width; ++c) tile[c][r] = x[(r0 + r) * cols + c0 + c];
      }
      for (int64_t c = 0; c < width; ++c) {
        float* to = out + (c0 + c) * rows + r0;
        if (height == kTile && (reinterpret_cast<uintptr_t>(to) & 31) == 0) {
          _mm256_stream_ps(to, _mm256_load_ps(tile[c]));
          _mm256_stream_ps(to + 8, _mm256_load_ps(tile[c] + 8));
        } else {
          for (int64_t r = 0; r < height; ++r) to[r] = tile[c][r];
        }
      }
    }
  }
  _mm_sfence();
}
