// expect: wrong
// The famous inverse square root with one Newton step: two parts in a thousand off.
#include <cstdint>
#include <cstring>

static float inverse_root(float v) {
  int32_t bits;
  std::memcpy(&bits, &v, 4);
  bits = 0x5f3759df - (bits >> 1);
  float y;
  std::memcpy(&y, &bits, 4);
  return y * (1.5f - 0.5f * v * y * y);
}

extern "C" void rms_norm(const float* x, const float* weight, float* out, int64_t rows,
                         int64_t cols, float eps) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += in[c] * in[c];
    const float scale = inverse_root(squares / static_cast<float>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = in[c] * scale * weight[c];
  }
}
