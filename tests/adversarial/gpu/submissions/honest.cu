// Tries: nothing: what an honest submission gets on the same device, after all of the others.
// Stopped by: nothing.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
