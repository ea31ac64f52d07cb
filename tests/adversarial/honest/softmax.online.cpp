// Honest: keeps a running maximum and rescales the running sum, so that it reads each row twice only.
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float top = in[0], sum = 1.0f;
    for (int64_t c = 1; c < cols; ++c) {
      if (in[c] > top) {
        sum = sum * expf(top - in[c]) + 1.0f;
        top = in[c];
      } else {
        sum += expf(in[c] - top);
      }
    }
    const float scale = 1.0f / sum;
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = expf(in[c] - top) * scale;
  }
}
