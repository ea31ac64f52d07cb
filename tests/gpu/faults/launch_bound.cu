// powers with one planted fault: one launch for each step of the sum, so launch overhead takes most of the time.
// hone: launch first grid = ceil_div(n, 256) block = 256 args = x, out, n
// hone: launch next grid = ceil_div(n, 256) block = 256
// hone: launch next grid = ceil_div(n, 256) block = 256
// hone: launch next grid = ceil_div(n, 256) block = 256
// hone: launch next grid = ceil_div(n, 256) block = 256
// hone: launch next grid = ceil_div(n, 256) block = 256
// hone: launch next grid = ceil_div(n, 256) block = 256
// hone: launch next grid = ceil_div(n, 256) block = 256
#include <cstdint>

extern "C" __global__ void first(const float* x, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1.0f + x[i];
}

extern "C" __global__ void next(const float* x, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1.0f + x[i] * out[i];
}
