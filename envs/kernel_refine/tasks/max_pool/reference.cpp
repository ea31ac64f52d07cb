// The answers for max_pool: the window is clipped to the plane, then searched.
#include <algorithm>
#include <cstdint>

namespace {

template <typename T>
void max_pool_as(const float* x, T* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
  for (int64_t p = 0; p < planes; ++p) {
    for (int64_t r = 0; r < oh; ++r) {
      const int64_t top = std::max<int64_t>(2 * r - 1, 0), bottom = std::min(2 * r + 1, h - 1);
      for (int64_t c = 0; c < ow; ++c) {
        const int64_t left = std::max<int64_t>(2 * c - 1, 0), right = std::min(2 * c + 1, w - 1);
        float best = x[(p * h + top) * w + left];
        for (int64_t i = top; i <= bottom; ++i) {
          for (int64_t j = left; j <= right; ++j) best = std::max(best, x[(p * h + i) * w + j]);
        }
        out[(p * oh + r) * ow + c] = best;
      }
    }
  }
}

}  // namespace

extern "C" void reference(const float* x, float* out, int64_t planes, int64_t h, int64_t w) {
  max_pool_as<float>(x, out, planes, h, w);
}

extern "C" void exact(const float* x, double* out, int64_t planes, int64_t h, int64_t w) {
  max_pool_as<double>(x, out, planes, h, w);
}
