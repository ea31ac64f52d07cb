// What is timed against for max_pool: nine looks per output, each with its bounds checked.
#include <cstdint>
#include <limits>

extern "C" void max_pool(const float* x, float* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
  for (int64_t p = 0; p < planes; ++p) {
    for (int64_t r = 0; r < oh; ++r) {
      for (int64_t c = 0; c < ow; ++c) {
        float best = -std::numeric_limits<float>::infinity();
        for (int64_t i = 2 * r - 1; i <= 2 * r + 1; ++i) {
          for (int64_t j = 2 * c - 1; j <= 2 * c + 1; ++j) {
            if (i < 0 || i >= h || j < 0 || j >= w) continue;
            const float v = x[(p * h + i) * w + j];
            best = v > best ? v : best;
          }
        }
        out[(p * oh + r) * ow + c] = best;
      }
    }
  }
}
