// The answers for transpose: an element per thread, read in order.
// hone: plan reference
// hone: launch transpose_as<float> grid = ceil_div(rows * cols, 256) block = 256
// hone: plan exact
// hone: launch transpose_as<double> grid = ceil_div(rows * cols, 256) block = 256
#include <cstdint>

template <typename T>
__global__ void transpose_as(const float* x, T* out, int64_t rows, int64_t cols) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows * cols) out[i % cols * rows + i / cols] = x[i];
}
