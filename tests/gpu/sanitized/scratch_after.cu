// add_relu with one planted fault: the first kernel writes one element behind the scratch buffer.
// hone: scratch sums = 4 * n
// hone: launch add grid = ceil_div(n, 256) block = 256 args = x, y, sums, n
// hone: launch relu grid = ceil_div(n, 256) block = 256 args = sums, out, n
#include <cstdint>

extern "C" __global__ void add(const float* x, const float* y, float* sums, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
  if (i == n) sums[i] = 0;  // the fault
}

extern "C" __global__ void relu(const float* sums, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(sums[i], 0.0f);
}
