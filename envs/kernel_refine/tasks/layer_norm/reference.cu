// The answers for layer_norm: a block per row finds the mean, then the variance about it, then writes.
// hone: plan reference
// hone: launch layer_norm_as<float> grid = rows block = 256
// hone: plan exact
// hone: launch layer_norm_as<double> grid = rows block = 256
#include <cstdint>

template <typename T>
__device__ T block_sum(T* part, T own) {
  const int t = threadIdx.x;
  part[t] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const T sum = part[0];
  __syncthreads();
  return sum;
}

template <typename T>
__global__ void layer_norm_as(const float* x, const float* gamma, const float* beta, T* out,
                              int64_t rows, int64_t cols) {
  __shared__ T part[256];
  const float* in = x + blockIdx.x * cols;
  T* o = out + blockIdx.x * cols;
  T sum = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) sum += static_cast<T>(in[c]);
  const T mean = block_sum(part, sum) / static_cast<T>(cols);
  T squares = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) {
    const T off = static_cast<T>(in[c]) - mean;
    squares += off * off;
  }
  const T variance = block_sum(part, squares) / static_cast<T>(cols);
  const T scale = 1 / sqrt(variance + static_cast<T>(1e-5));
  for (int64_t c = threadIdx.x; c < cols; c += 256) {
    o[c] = (static_cast<T>(in[c]) - mean) * scale * static_cast<T>(gamma[c]) + static_cast<T>(beta[c]);
  }
}
