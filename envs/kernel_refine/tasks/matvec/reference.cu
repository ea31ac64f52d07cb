// The answers for matvec: a block per row and a tree over its threads.
// hone: plan reference
// hone: launch matvec_as<float> grid = rows block = 256
// hone: plan exact
// hone: launch matvec_as<double> grid = rows block = 256
#include <cstdint>

template <typename T>
__global__ void matvec_as(const float* a, const float* x, T* y, int64_t rows, int64_t cols) {
  __shared__ T part[256];
  const int t = threadIdx.x;
  T sum = 0;
  for (int64_t c = t; c < cols; c += 256) {
    sum += static_cast<T>(a[blockIdx.x * cols + c]) * static_cast<T>(x[c]);
  }
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}
