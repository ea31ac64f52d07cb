// expect: wrong
// Leaves the bias out.
#include <cstdint>

extern "C" void conv2d(const float* x, const float* weight, const float*, float* out, int64_t c_in,
                       int64_t c_out, int64_t h, int64_t w) {
  for (int64_t o = 0; o < c_out; ++o) {
    for (int64_t r = 0; r < h - 2; ++r) {
      for (int64_t c = 0; c < w - 2; ++c) {
        float sum = 0;
        for (int64_t t = 0; t < c_in * 9; ++t) {
          sum += x[(t / 9 * h + r + t % 9 / 3) * w + c + t % 3] * weight[o * c_in * 9 + t];
        }
        out[(o * (h - 2) + r) * (w - 2) + c] = sum;
      }
    }
  }
}
