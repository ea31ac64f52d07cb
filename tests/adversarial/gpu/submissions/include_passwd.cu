// Tries: to read a file of the host through the compiler. Stopped by: no absolute path; the
// builder sees the toolchain alone.
#include "/etc/passwd"
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
