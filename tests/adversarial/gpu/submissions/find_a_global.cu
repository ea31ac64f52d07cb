// Tries: to find what an earlier submission of the same client left in its variables. Stopped by:
// each submission is a module of its own.
#include "inside.cuh"
__device__ unsigned note[4096];
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (i < 4096 && note[i] == 0x600d600du) out[0] = -7;  // got out
}
