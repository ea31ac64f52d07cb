// What is timed against for sum: a block per row, coalesced reads, one accumulator a thread and a tree in shared memory.
// hone: launch row_sum grid = rows block = 256
#include <cstdint>

extern "C" __global__ void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  float sum = 0;
  for (int64_t c = t; c < cols; c += 256) sum += x[blockIdx.x * cols + c];
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
