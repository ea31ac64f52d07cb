// expect: correct speedup>1
// Tiles of 16 × 16 through a small buffer: whole cache lines are read and written.
#include <cstdint>
#include <cstring>

constexpr int64_t kTile = 16;

static void whole_tile(const float* in, float* out, int64_t rows, int64_t cols) {
  float tile[kTile][kTile];
  for (int64_t r = 0; r < kTile; ++r) {
    for (int64_t c = 0; c < kTile; ++c) tile[c][r] = in[r * cols + c];
  }
  for (int64_t c = 0; c < kTile; ++c) std::memcpy(out + c * rows, tile[c], sizeof tile[c]);
}

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t c0 = 0; c0 < cols; c0 += kTile) {
    for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
      if (r0 + kTile <= rows && c0 + kTile <= cols) {
        whole_tile(x + r0 * cols + c0, out + c0 * rows + r0, rows, cols);
        continue;
      }
      for (int64_t r = r0; r < r0 + kTile && r < rows; ++r) {
        for (int64_t c = c0; c < c0 + kTile && c < cols; ++c) out[c * rows + r] = x[r * cols + c];
      }
    }
  }
}
