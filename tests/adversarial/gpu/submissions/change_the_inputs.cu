// Tries: to use an input as scratch memory. Stopped by: inputs are compared with their masters.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i >= n) return;
  out[i] = right(x[i], y[i]);
  ((float*)x)[i] = 0;
}
