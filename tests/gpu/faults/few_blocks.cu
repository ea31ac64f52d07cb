// layer_norm with one planted fault: the grid has only 16 blocks for all rows.
// hone: launch layer_norm grid = 16 block = 1024
#include <cstdint>

__device__ float block_sum(float* part, float own) {
  const int t = threadIdx.x;
  for (int lanes = 16; lanes > 0; lanes /= 2) own += __shfl_xor_sync(~0u, own, lanes);
  if (t % 32 == 0) part[t / 32] = own;
  __syncthreads();
  float sum = part[t % 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  __syncthreads();
  return sum;
}

extern "C" __global__ void layer_norm(const float* x, const float* gamma, const float* beta,
                                      float* out, int64_t rows, int64_t cols) {
  __shared__ float part[32];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* in = x + row * cols;
    float* o = out + row * cols;
    float sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += 1024) sum += in[c];
    const float mean = block_sum(part, sum) / cols;
    float squares = 0;
    for (int64_t c = threadIdx.x; c < cols; c += 1024) squares += (in[c] - mean) * (in[c] - mean);
    const float scale = 1.0f / sqrtf(block_sum(part, squares) / cols + 1e-5f);
    for (int64_t c = threadIdx.x; c < cols; c += 1024)
      o[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
  }
}
