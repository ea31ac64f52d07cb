// Tries: a kernel that takes more arguments than its launch gives: what lies behind them on the
// host? Stopped by: arguments are compared with those of the kernel.
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n,
                                    u64 more) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]) + (float)(more & 1);
}
