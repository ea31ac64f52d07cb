// expect: correct speedup<1
// Right, but gathers each window into a vector and sorts it.
#include <algorithm>
#include <cstdint>
#include <vector>

extern "C" void max_pool(const float* x, float* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
  for (int64_t at = 0; at < planes * oh * ow; ++at) {
    const int64_t p = at / (oh * ow), r = at / ow % oh, c = at % ow;
    std::vector<float> window;
    for (int64_t i = std::max<int64_t>(2 * r - 1, 0); i <= std::min(2 * r + 1, h - 1); ++i) {
      for (int64_t j = std::max<int64_t>(2 * c - 1, 0); j <= std::min(2 * c + 1, w - 1); ++j) {
        window.push_back(x[(p * h + i) * w + j]);
      }
    }
    std::sort(window.begin(), window.end());
    out[at] = window.back();
  }
}
