// The answers for gelu; the exact form uses erfc, which does not cancel for negative x.
// hone: plan reference
// hone: launch gelu_plain grid = ceil_div(n, 256) block = 256
// hone: plan exact
// hone: launch gelu_exact grid = ceil_div(n, 256) block = 256
#include <cstdint>

extern "C" __global__ void gelu_plain(const float* x, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" __global__ void gelu_exact(const float* x, double* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double v = x[i];
  out[i] = 0.5 * v * erfc(-v * 0.70710678118654752440);
}
