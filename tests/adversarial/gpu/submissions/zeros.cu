// Tries: an answer of zeros, in the hope that it is near enough. Stopped by: the tolerance, which
// admission proves.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = 0;
  (void)x, (void)y;
}
