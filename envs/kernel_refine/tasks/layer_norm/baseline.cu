// What is timed against for layer_norm: a block per row, which is read three times, with reductions in shared memory.
// hone: launch layer_norm grid = rows block = 256
#include <cstdint>

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

extern "C" __global__ void layer_norm(const float* x, const float* gamma, const float* beta,
                                      float* out, int64_t rows, int64_t cols) {
  __shared__ float part[256];
  const float* in = x + blockIdx.x * cols;
  float* o = out + blockIdx.x * cols;
  float sum = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) sum += in[c];
  const float mean = block_sum(part, sum) / cols;
  float squares = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) squares += (in[c] - mean) * (in[c] - mean);
  const float scale = 1.0f / sqrtf(block_sum(part, squares) / cols + 1e-5f);
  for (int64_t c = threadIdx.x; c < cols; c += 256) o[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}
