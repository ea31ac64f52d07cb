// expect: wrong
// Rounds the sum of both tensors to bfloat16 before it is normalised, as two kernels in a row would.
// hone: launch layer_norm_bf16 grid = rows block = 256
#include <cstdint>

__device__ float widened(uint16_t bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
__device__ uint16_t narrowed(float value) {
  const unsigned bits = __float_as_uint(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

__device__ float both(uint16_t x, uint16_t residual) {
  return widened(narrowed(widened(x) + widened(residual)));
}

__device__ float block_sum(float* part, float own) {
  const int t = threadIdx.x;
  part[t] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float sum = part[0];
  __syncthreads();
  return sum;
}

extern "C" __global__ void layer_norm_bf16(const uint16_t* x, const uint16_t* residual,
                                           const float* gamma, const float* beta, uint16_t* out,
                                           int64_t rows, int64_t cols) {
  __shared__ float part[256];
  const int64_t row = blockIdx.x * cols;
  float sum = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) sum += both(x[row + c], residual[row + c]);
  const float mean = block_sum(part, sum) / cols;
  float squares = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) {
    const float off = both(x[row + c], residual[row + c]) - mean;
    squares += off * off;
  }
  const float scale = 1.0f / sqrtf(block_sum(part, squares) / cols + 1e-5f);
  for (int64_t c = threadIdx.x; c < cols; c += 256) {
    const float off = both(x[row + c], residual[row + c]) - mean;
    out[row + c] = narrowed(off * scale * gamma[c] + beta[c]);
  }
}
