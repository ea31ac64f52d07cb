// Tries: a pebibyte of scratch memory. Stopped by: scratch memory has a limit.
// hone: scratch all = 1125899906842624
// hone: launch add_relu grid = 1 block = 256
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
