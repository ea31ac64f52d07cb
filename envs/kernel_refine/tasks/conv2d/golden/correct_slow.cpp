// expect: correct speedup<1
// Right, but input channels are outermost and every product goes through the output in memory, column by column.
#include <cstdint>

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* out,
                       int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  const int64_t oh = h - 2, ow = w - 2;
  for (int64_t at = 0; at < c_out * oh * ow; ++at) out[at] = bias[at / (oh * ow)];
  for (int64_t tap = 0; tap < c_in * 9; ++tap) {
    for (int64_t c = 0; c < ow; ++c) {
      for (int64_t r = 0; r < oh; ++r) {
        const float v = x[(tap / 9 * h + r + tap % 9 / 3) * w + c + tap % 3];
        for (int64_t o = 0; o < c_out; ++o) out[(o * oh + r) * ow + c] += v * weight[o * c_in * 9 + tap];
      }
    }
  }
}
