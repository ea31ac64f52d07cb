// expect: correct speedup>1
// One pass over memory: the sum never leaves the register.
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i] + y[i];
  out[i] = v > 0 ? v : 0;
}
