// expect: wrong
// Schraudolph's exponential: one multiplication and a cast, several percent off.
#include <cstdint>
#include <cstring>

static inline float crude_exp(float x) {
  if (x < -87.0f) return 0;
  const int32_t bits = static_cast<int32_t>(12102203.0f * x) + 1064866805;
  float v;
  std::memcpy(&v, &bits, 4);
  return v;
}

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* o = out + r * cols;
    float top = in[0];
    for (int64_t c = 1; c < cols; ++c) top = in[c] > top ? in[c] : top;
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += o[c] = crude_exp(in[c] - top);
    for (int64_t c = 0; c < cols; ++c) o[c] /= sum;
  }
}
