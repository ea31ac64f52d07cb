// Honest: lets the processor flush denormal numbers to zero during the call, and restores its mode.
#include <immintrin.h>

#include <cmath>
#include <cstdint>

extern "C" void rms_norm(const float* x, const float* weight, float* out, int64_t rows,
                         int64_t cols, float eps) {
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040);
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float part[32] = {}, squares = 0;
    int64_t c = 0;
    for (; c + 32 <= cols; c += 32) {
      for (int k = 0; k < 32; ++k) part[k] += in[c + k] * in[c + k];
    }
    for (; c < cols; ++c) squares += in[c] * in[c];
    for (float p : part) squares += p;
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(cols) + eps);
    for (c = 0; c < cols; ++c) out[r * cols + c] = in[c] * scale * weight[c];
  }
  _mm_setcsr(mode);
}
