// What is timed against for add_relu: the two operations one after the other, the second in place, as a framework runs them.
// hone: launch add grid = ceil_div(n, 256) block = 256 args = x, y, out, n
// hone: launch relu grid = ceil_div(n, 256) block = 256 args = out, n
#include <cstdint>

extern "C" __global__ void add(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}

extern "C" __global__ void relu(float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = out[i] > 0 ? out[i] : 0;
}
