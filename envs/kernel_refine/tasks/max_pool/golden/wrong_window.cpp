// expect: wrong
// Takes windows of 2 × 2 without padding.
#include <algorithm>
#include <cstdint>

extern "C" void max_pool(const float* x, float* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
  for (int64_t at = 0; at < planes * oh * ow; ++at) {
    const int64_t p = at / (oh * ow), r = at / ow % oh, c = at % ow;
    const int64_t r1 = std::min(2 * r + 1, h - 1), c1 = std::min(2 * c + 1, w - 1);
    const float* in = x + p * h * w;
    out[at] = std::max(std::max(in[2 * r * w + 2 * c], in[2 * r * w + c1]),
                       std::max(in[r1 * w + 2 * c], in[r1 * w + c1]));
  }
}
