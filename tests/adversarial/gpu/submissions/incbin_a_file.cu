// Tries: to read a file of the host through the assembler. Stopped by: there is no such directive;
// the builder sees the toolchain alone.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  asm volatile(".incbin \"/etc/passwd\"");
  if (i < n) out[i] = right(x[i], y[i]);
}
