// Reference of powers: plans for its own and for exact answers.
// hone: plan reference
// hone: launch powers_of<float> grid = ceil_div(n, 256) block = 256
// hone: plan exact
// hone: launch powers_of<double> grid = ceil_div(n, 256) block = 256
#include <cstdint>

template <typename T>
__global__ void powers_of(const float* x, T* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T sum = 1;
  for (int k = 0; k < 8; ++k) sum = T(1) + T(x[i]) * sum;
  out[i] = sum;
}
