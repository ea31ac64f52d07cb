// The answers for add_relu: one addition and one comparison per element.
// hone: plan reference
// hone: launch add_relu_as<float> grid = ceil_div(n, 256) block = 256
// hone: plan exact
// hone: launch add_relu_as<double> grid = ceil_div(n, 256) block = 256
#include <cstdint>

template <typename T>
__global__ void add_relu_as(const float* x, const float* y, T* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T sum = static_cast<T>(x[i]) + static_cast<T>(y[i]);
  out[i] = sum > 0 ? sum : 0;
}
