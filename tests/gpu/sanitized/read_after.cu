// add_relu with one planted fault: each thread reads the next element of y.
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float next = y[i + 1];  // the fault
  out[i] = fmaxf(x[i] + y[i] + 0.0f * next, 0.0f);
}
