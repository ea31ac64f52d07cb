// expect: correct speedup>1
// Four vector accumulators for the sum of squares.
#include <cmath>
#include <cstdint>

typedef float f16 __attribute__((vector_size(64), aligned(4)));

static float sum_of_squares(const float* in, int64_t cols) {
  f16 part[4] = {};
  int64_t c = 0;
  for (; c + 64 <= cols; c += 64) {
    for (int k = 0; k < 4; ++k) {
      const f16 v = *reinterpret_cast<const f16*>(in + c + 16 * k);
      part[k] += v * v;
    }
  }
  const f16 all = (part[0] + part[1]) + (part[2] + part[3]);
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += all[k];
  for (; c < cols; ++c) sum += in[c] * in[c];
  return sum;
}

extern "C" void rms_norm(const float* __restrict x, const float* __restrict weight,
                         float* __restrict out, int64_t rows, int64_t cols, float eps) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* o = out + r * cols;
    const float mean = sum_of_squares(in, cols) / static_cast<float>(cols);
    const float scale = 1.0f / std::sqrt(mean + eps);
    for (int64_t c = 0; c < cols; ++c) o[c] = in[c] * scale * weight[c];
  }
}
