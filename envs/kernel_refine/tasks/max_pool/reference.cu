// The answers for max_pool: the window is clipped to the plane, then searched; an output per thread.
// hone: plan reference
// hone: launch max_pool_as<float> grid = ceil_div(planes * ((h + 1) / 2) * ((w + 1) / 2), 256) block = 256
// hone: plan exact
// hone: launch max_pool_as<double> grid = ceil_div(planes * ((h + 1) / 2) * ((w + 1) / 2), 256) block = 256
#include <cstdint>

template <typename T>
__global__ void max_pool_as(const float* x, T* out, int64_t planes, int64_t h, int64_t w) {
  const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
  if (at >= planes * oh * ow) return;
  const int64_t p = at / (oh * ow), r = at / ow % oh, c = at % ow;
  const int64_t top = r > 0 ? 2 * r - 1 : 0, bottom = 2 * r + 1 < h ? 2 * r + 1 : h - 1;
  const int64_t left = c > 0 ? 2 * c - 1 : 0, right = 2 * c + 1 < w ? 2 * c + 1 : w - 1;
  float best = x[(p * h + top) * w + left];
  for (int64_t i = top; i <= bottom; ++i) {
    for (int64_t j = left; j <= right; ++j) {
      const float v = x[(p * h + i) * w + j];
      best = v > best ? v : best;
    }
  }
  out[at] = best;
}
