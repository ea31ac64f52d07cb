// expect: correct speedup<1
// Right, but every thread walks a stretch of its own: neighbours read places that lie far apart.
// hone: launch add_relu grid = ceil_div(n, 8192) block = 64
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t first = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * 128;
  for (int64_t i = first; i < first + 128 && i < n; ++i) {
    const float v = x[i] + y[i];
    out[i] = v > 0 ? v : 0;
  }
}
