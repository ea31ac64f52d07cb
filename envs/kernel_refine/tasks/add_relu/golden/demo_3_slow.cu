// expect: correct speedup<1
// Right, but through temporaries: each is written and read again, far more memory traffic than needed.
// hone: scratch sum = 4 * n
// hone: scratch positive = 4 * n
// hone: launch add grid = ceil_div(n, 256) block = 256 args = x, y, sum, n
// hone: launch relu grid = ceil_div(n, 256) block = 256 args = sum, positive, n
// hone: launch copy grid = ceil_div(n, 256) block = 256 args = positive, out, n
#include <cstdint>

extern "C" __global__ void add(const float* x, const float* y, float* sum, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = x[i] + y[i];
}

extern "C" __global__ void relu(const float* sum, float* positive, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) positive[i] = sum[i] > 0 ? sum[i] : 0;
}

extern "C" __global__ void copy(const float* positive, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = positive[i];
}
