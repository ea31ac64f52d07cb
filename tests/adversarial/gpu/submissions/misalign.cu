// Tries: an access at an odd address. Stopped by: it is a crash of its own, and of no other
// process.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (i == 0) *(volatile float*)((char*)out + 2) = 7;
}
