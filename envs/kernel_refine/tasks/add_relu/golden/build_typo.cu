// expect: build_failed
// A name that was never declared.
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float sum = x[i] + y[i];
  out[i] = summ > 0 ? sum : 0;
}
