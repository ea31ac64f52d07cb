// Tries: to find what an earlier submission of the same client left in the arena. Stopped by: the
// arena of a process that is kept is scrubbed between two submissions.
// hone: scratch note = 262144
// hone: launch add_relu grid = ceil_div(n, 256) block = 256 args = x, y, out, n, note
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n,
                                    const unsigned* note) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  for (long long k = i; k < 1 << 16; k += gridDim.x * (long long)blockDim.x) {
    if (note[k] == 0x600d600du) out[0] = -7;  // got out
  }
}
