// Tries: sixteen bits where thirty-two are asked for. Stopped by: a tolerance that follows from
// the reference's own error.
#include "inside.cuh"
__device__ float shorten(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x8000u) & 0xffff0000u);
}

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(shorten(x[i]), shorten(y[i]));
}
