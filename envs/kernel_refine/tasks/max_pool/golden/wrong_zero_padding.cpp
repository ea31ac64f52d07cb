// expect: wrong
// Starts from zero, which wins against a window of negative values.
#include <cstdint>

extern "C" void max_pool(const float* x, float* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
  for (int64_t at = 0; at < planes * oh * ow; ++at) {
    const int64_t p = at / (oh * ow), r = at / ow % oh, c = at % ow;
    float best = 0;
    for (int64_t i = 2 * r - 1; i <= 2 * r + 1; ++i) {
      for (int64_t j = 2 * c - 1; j <= 2 * c + 1; ++j) {
        if (i < 0 || i >= h || j < 0 || j >= w) continue;
        if (x[(p * h + i) * w + j] > best) best = x[(p * h + i) * w + j];
      }
    }
    out[at] = best;
  }
}
