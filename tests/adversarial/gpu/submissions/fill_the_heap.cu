// Tries: to fill the device's heap and never to free it, so that the next submission finds none.
// Stopped by: a process of its own for each submission (`isolation: fresh`).
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  for (size_t bytes = 1u << 20; i == 0 && bytes >= 64; bytes /= 2) {
    while (u64* chunk = (u64*)malloc(bytes)) chunk[0] = 0x600d600d600d600dull;
  }
}
