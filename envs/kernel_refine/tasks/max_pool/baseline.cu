// What is timed against for max_pool: an output per thread, nine looks, each with its bounds checked.
// hone: launch max_pool grid = ceil_div(planes * ((h + 1) / 2) * ((w + 1) / 2), 256) block = 256
#include <cstdint>

extern "C" __global__ void max_pool(const float* x, float* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
  if (at >= planes * oh * ow) return;
  const int64_t p = at / (oh * ow), r = at / ow % oh, c = at % ow;
  float best = -3.402823466e38f;  // the least float: inputs are finite
  for (int64_t i = 2 * r - 1; i <= 2 * r + 1; ++i) {
    for (int64_t j = 2 * c - 1; j <= 2 * c + 1; ++j) {
      if (i >= 0 && i < h && j >= 0 && j < w) best = fmaxf(best, x[(p * h + i) * w + j]);
    }
  }
  out[at] = best;
}
