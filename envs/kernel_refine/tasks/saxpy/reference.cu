// The answers for saxpy.
// hone: plan reference
// hone: launch saxpy_as<float> grid = ceil_div(n, 256) block = 256
// hone: plan exact
// hone: launch saxpy_as<double> grid = ceil_div(n, 256) block = 256
#include <cstdint>

template <typename T>
__global__ void saxpy_as(int64_t n, float a, const float* x, const float* y, T* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<T>(a) * static_cast<T>(x[i]) + static_cast<T>(y[i]);
}
