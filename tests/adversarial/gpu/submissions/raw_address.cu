// Tries: an address of its own choice as an argument. Stopped by: an address that is not mapped is
// a fault.
// hone: launch add_relu grid = ceil_div(n, 256) block = 256 args = x, y, out, n, 1099511627776
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n,
                                    float* elsewhere) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (i == 0) elsewhere[0] = out[0];
}
