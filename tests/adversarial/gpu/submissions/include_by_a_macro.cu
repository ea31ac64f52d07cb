// Tries: to read a file of the host through the compiler, by a name that a macro hides. Stopped
// by: plain names alone.
#define FILE "/etc/passwd"
#include FILE
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
