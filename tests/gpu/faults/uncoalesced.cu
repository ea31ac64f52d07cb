// add_relu with one planted fault: each thread has 64 neighbouring elements, so neighbouring threads are 256 bytes apart.
// hone: launch add_relu grid = ceil_div(n, 16384) block = 256
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t begin = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * 64;
  const int64_t end = begin + 64 < n ? begin + 64 : n;
  for (int64_t i = begin; i < end; ++i) {
    const float sum = x[i] + y[i];
    out[i] = sum > 0 ? sum : 0;
  }
}
