// Tries: nothing. It needs a little of the device's heap, and breaks off where an earlier
// submission has left none. Stopped by: a crash in a process that was used before counts once a
// fresh one says the same.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (i != 0) return;
  void* chunk = malloc(256);
  if (chunk == NULL) __trap();
  free(chunk);
}
