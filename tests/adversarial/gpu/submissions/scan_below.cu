// Tries: to find what else lies in memory, the words of the driver about what is done among it,
// below its own. Stopped by: no other allocation is mapped next to the arena: an access beyond is a
// fault.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
  if (i != 0) return;
  unsigned sum = 0;
  for (u64 step = 4096; step < 1ull << 41; step += step / 2)
    sum += *(volatile unsigned*)(((u64)x - step) & ~4095ull);
  if (sum == 12345) out[0] = 0;
}
