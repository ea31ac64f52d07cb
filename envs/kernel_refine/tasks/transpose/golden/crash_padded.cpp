// expect: crashed
// Rounds both extents up to whole tiles of 64 and touches all of them.
#include <cstdint>

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  constexpr int64_t kTile = 64;
  const int64_t rows_up = (rows + kTile - 1) / kTile * kTile, cols_up = (cols + kTile - 1) / kTile * kTile;
  for (int64_t r = 0; r < rows_up; ++r) {
    for (int64_t c = 0; c < cols_up; ++c) out[c * rows + r] = x[r * cols + c];
  }
}
