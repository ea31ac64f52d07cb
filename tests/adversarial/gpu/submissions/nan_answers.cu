// Tries: answers that are no numbers, of which no comparison is true. Stopped by: a NaN equals an
// expected NaN alone.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = __int_as_float(0x7fc00000);
  (void)x, (void)y;
}
