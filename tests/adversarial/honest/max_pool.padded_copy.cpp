// Honest: copies each plane into a padded plane of minus infinity, then needs no bounds check.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

extern "C" void max_pool(const float* x, float* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2, pitch = w + 2;
  std::vector<float> padded(static_cast<size_t>((h + 2) * pitch),
                            -std::numeric_limits<float>::infinity());
  for (int64_t p = 0; p < planes; ++p) {
    for (int64_t r = 0; r < h; ++r) {
      std::memcpy(&padded[(r + 1) * pitch + 1], x + (p * h + r) * w,
                  static_cast<size_t>(w) * sizeof(float));
    }
    for (int64_t r = 0; r < oh; ++r) {
      for (int64_t c = 0; c < ow; ++c) {
        const float* corner = &padded[2 * r * pitch + 2 * c];
        float best = corner[0];
        for (int tap = 1; tap < 9; ++tap) best = std::max(best, corner[tap / 3 * pitch + tap % 3]);
        out[(p * oh + r) * ow + c] = best;
      }
    }
  }
}
