// expect: wrong
// Vectors of four, and the elements that are left over are forgotten.
// hone: launch add_relu grid = max(n / 1024, 1) block = 256
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * 4;
  if (i + 4 > n) return;
  for (int64_t at = i; at < i + 4; ++at) {
    const float v = x[at] + y[at];
    out[at] = v > 0 ? v : 0;
  }
}
