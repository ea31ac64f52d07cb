// expect: wrong
// Whole tiles only; what is left at the edges is never written.
#include <cstdint>

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  constexpr int64_t kTile = 8;
  for (int64_t r0 = 0; r0 + kTile <= rows; r0 += kTile) {
    for (int64_t c0 = 0; c0 + kTile <= cols; c0 += kTile) {
      for (int64_t r = r0; r < r0 + kTile; ++r) {
        for (int64_t c = c0; c < c0 + kTile; ++c) out[c * rows + r] = x[r * cols + c];
      }
    }
  }
}
