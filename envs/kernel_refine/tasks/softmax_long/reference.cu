// The answers for softmax_long: a block of 1024 threads per row finds the maximum, adds the exponentials and divides.
// hone: plan reference
// hone: launch softmax_long_as<float> grid = rows block = 1024
// hone: plan exact
// hone: launch softmax_long_as<double> grid = rows block = 1024
#include <cstdint>

template <typename T>
__global__ void softmax_long_as(const float* x, T* out, int64_t rows, int64_t cols) {
  __shared__ T part[1024];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  T* o = out + blockIdx.x * cols;

  T top = in[0];
  for (int64_t c = t; c < cols; c += 1024) top = in[c] > top ? static_cast<T>(in[c]) : top;
  part[t] = top;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half && part[t + half] > part[t]) part[t] = part[t + half];
    __syncthreads();
  }
  top = part[0];
  __syncthreads();

  T sum = 0;
  for (int64_t c = t; c < cols; c += 1024) {
    o[c] = exp(static_cast<T>(in[c]) - top);
    sum += o[c];
  }
  part[t] = sum;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  sum = part[0];
  for (int64_t c = t; c < cols; c += 1024) o[c] /= sum;
}
