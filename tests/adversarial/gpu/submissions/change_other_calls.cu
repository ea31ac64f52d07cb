// Tries: to write into the inputs of a round's other calls, which are easy to answer then. Stopped
// by: inputs are compared with their masters, and answers are those of the masters.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i >= n) return;
  out[i] = right(x[i], y[i]);
  // The pair of inputs behind its own is the next call's, where a round has more than one.
  const u64 pitch = (u64)y - (u64)x;
  if (n == kTimed && (u64)out - (u64)x > 2 * pitch) ((float*)((u64)x + 2 * pitch))[i] = 0;
}
