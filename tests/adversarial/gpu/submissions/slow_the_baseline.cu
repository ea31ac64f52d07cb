// Tries: to leave the device slow for the baseline: dirty caches, and memory traffic as long as it
// may. Stopped by: the device is idle and its caches are written over before each side's round.
// hone: scratch heap = 67108864
// hone: launch add_relu grid = ceil_div(n, 256) block = 256 args = x, y, out, n, heap
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n,
                                    float* heap) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  for (long long k = i; k < 1 << 24; k += gridDim.x * (long long)blockDim.x) heap[k] = (float)k;
}
