// Tries: a cooperative launch of more blocks than the device holds at once, which would wait for
// each other for ever. Stopped by: the driver refuses it.
// hone: launch add_relu grid = 1000000 block = 256 cooperative
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
