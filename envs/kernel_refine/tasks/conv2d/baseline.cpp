// What is timed against for conv2d: the definition, one output after the other.
#include <cstdint>

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* out,
                       int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  for (int64_t o = 0; o < c_out; ++o) {
    for (int64_t r = 0; r < h - 2; ++r) {
      for (int64_t c = 0; c < w - 2; ++c) {
        float sum = bias[o];
        for (int64_t i = 0; i < c_in; ++i) {
          for (int64_t dr = 0; dr < 3; ++dr) {
            for (int64_t dc = 0; dc < 3; ++dc) {
              sum += x[(i * h + r + dr) * w + c + dc] * weight[((o * c_in + i) * 3 + dr) * 3 + dc];
            }
          }
        }
        out[(o * (h - 2) + r) * (w - 2) + c] = sum;
      }
    }
  }
}
