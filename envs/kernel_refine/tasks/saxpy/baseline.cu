// What is timed against for saxpy: y is copied, then updated in place, which is how BLAS states the operation.
// hone: launch copy grid = ceil_div(n, 256) block = 256 args = n, y, out
// hone: launch update grid = ceil_div(n, 256) block = 256 args = n, a, x, out
#include <cstdint>

extern "C" __global__ void copy(int64_t n, const float* y, float* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = y[i];
}

extern "C" __global__ void update(int64_t n, float a, const float* x, float* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] += a * x[i];
}
