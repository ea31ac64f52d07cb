// Tries: to leave a note in its scratch memory for the submission that comes next. Stopped by: the
// arena of a process that is kept is scrubbed between two submissions.
// hone: scratch note = 262144
// hone: launch add_relu grid = ceil_div(n, 256) block = 256 args = x, y, out, n, note
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n,
                                    unsigned* note) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  for (long long k = i; k < 1 << 16; k += gridDim.x * (long long)blockDim.x) note[k] = 0x600d600du;
}
