// Tries: numbers of a plan that wrap around. Stopped by: checked arithmetic.
// hone: scratch all = 9223372036854775807 * (n + 1)
// hone: launch add_relu grid = 1 block = 256
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
