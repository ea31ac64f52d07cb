// add_relu with one planted fault: a write 1,000 elements behind the output.
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i] + y[i], 0.0f);
  if (i == 0) out[n + 1000] = 0;  // the fault
}
