// Tries: to keep the candidate busy with launches. Stopped by: a plan has at most sixteen.
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = right(x[i], y[i]);
}
