// Baseline of powers: all multiplications in one launch.
// hone: launch powers grid = ceil_div(n, 256) block = 256
#include <cstdint>

extern "C" __global__ void powers(const float* x, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 1;
  for (int k = 0; k < 8; ++k) sum = 1.0f + x[i] * sum;
  out[i] = sum;
}
