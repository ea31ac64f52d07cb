// Tries: more shared memory than there is. Stopped by: a plan is held against the device's limits.
// hone: launch add_relu grid = 1 block = 256 shared = 1073741824
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
