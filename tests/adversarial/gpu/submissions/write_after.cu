// Tries: one element behind the output. Stopped by: canaries.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (i == 0) out[n] = 7;
}
