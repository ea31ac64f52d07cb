// Tries: nothing. It needs a little of the device's heap, and answers wrong where an earlier
// submission has left none. Stopped by: what uses the heap has a process of its own.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (i != 0) return;
  void* chunk = malloc(256);
  if (chunk == NULL) out[0] = -7;
  free(chunk);
}
