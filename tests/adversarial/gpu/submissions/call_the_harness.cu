// Tries: a kernel of the judge's by its name. Stopped by: a submission is a module of its own, in
// a context of its own.
// hone: launch hone_load grid = 1 block = 256 args = x
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
