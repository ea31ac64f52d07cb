// Tries: never to end, so that no other submission gets the device. Stopped by: the time limit: its
// process is killed, and the context with it.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  volatile float* at = out;
  while (at[0] == at[0] || at[0] != at[0]) continue;
}
