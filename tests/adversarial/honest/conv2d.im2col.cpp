// Honest: copies the patches into a matrix that it allocates on each call, then multiplies matrices.
#include <cstdint>
#include <cstring>
#include <memory>

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* out,
                       int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  const int64_t oh = h - 2, ow = w - 2, taps = c_in * 9, places = oh * ow;
  const auto patches = std::make_unique<float[]>(static_cast<size_t>(taps * places));
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t r = 0; r < oh; ++r) {
      const float* from = x + (tap / 9 * h + r + tap % 9 / 3) * w + tap % 3;
      std::memcpy(&patches[tap * places + r * ow], from, static_cast<size_t>(ow) * sizeof(float));
    }
  }
  for (int64_t o = 0; o < c_out; ++o) {
    float* __restrict plane = out + o * places;
    for (int64_t p = 0; p < places; ++p) plane[p] = bias[o];
    for (int64_t tap = 0; tap < taps; ++tap) {
      const float scale = weight[o * taps + tap];
      const float* row = &patches[tap * places];
      for (int64_t p = 0; p < places; ++p) plane[p] += scale * row[p];
    }
  }
}
