// expect: correct speedup<1
// Right, but a thread per row: neighbouring threads read places that lie a row apart.
// hone: launch layer_norm_bf16 grid = ceil_div(rows, 32) block = 32
#include <cstdint>

__device__ float widened(uint16_t bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
__device__ uint16_t narrowed(float value) {
  const unsigned bits = __float_as_uint(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

extern "C" __global__ void layer_norm_bf16(const uint16_t* x, const uint16_t* residual,
                                           const float* gamma, const float* beta, uint16_t* out,
                                           int64_t rows, int64_t cols) {
  const int64_t r = int64_t{blockIdx.x} * 32 + threadIdx.x, row = r * cols;
  if (r >= rows) return;
  float sum = 0, squares = 0;
  for (int64_t c = 0; c < cols; ++c) sum += widened(x[row + c]) + widened(residual[row + c]);
  const float mean = sum / cols;
  for (int64_t c = 0; c < cols; ++c) {
    const float off = widened(x[row + c]) + widened(residual[row + c]) - mean;
    squares += off * off;
  }
  const float scale = 1.0f / sqrtf(squares / cols + 1e-5f);
  for (int64_t c = 0; c < cols; ++c) {
    const float off = widened(x[row + c]) + widened(residual[row + c]) - mean;
    out[row + c] = narrowed(off * scale * gamma[c] + beta[c]);
  }
}
