// sum with one planted fault: thread 0 adds the parts of all threads without a barrier before that.
// hone: launch row_sum grid = rows block = 256
#include <cstdint>

extern "C" __global__ void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  float sum = 0;
  for (int64_t c = t; c < cols; c += 256) sum += x[blockIdx.x * cols + c];
  part[t] = sum;  // the fault: no barrier follows
  if (t != 0) return;
  for (int i = 1; i < 256; ++i) sum += part[i];
  out[blockIdx.x] = sum;
}
