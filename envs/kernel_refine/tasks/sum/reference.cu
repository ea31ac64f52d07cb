// The answers for sum: a block per row, each thread adds every 256th element, and a tree adds the threads.
// hone: plan reference
// hone: launch row_sum_as<float> grid = rows block = 256
// hone: plan exact
// hone: launch row_sum_as<double> grid = rows block = 256
#include <cstdint>

template <typename T>
__global__ void row_sum_as(const float* x, T* out, int64_t rows, int64_t cols) {
  __shared__ T part[256];
  const int t = threadIdx.x;
  T sum = 0;
  for (int64_t c = t; c < cols; c += 256) sum += static_cast<T>(x[blockIdx.x * cols + c]);
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
