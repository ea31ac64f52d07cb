// sum with one planted fault: the launch has shared memory for 255 of 256 parts.
// hone: launch row_sum grid = rows block = 256 shared = 4 * 255
#include <cstdint>

extern "C" __global__ void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  extern __shared__ float part[];
  const int t = threadIdx.x;
  float sum = 0;
  for (int64_t c = t; c < cols; c += 256) sum += x[blockIdx.x * cols + c];
  part[t] = sum;  // the fault
  __syncthreads();
  if (t != 0) return;
  for (int i = 1; i < 256; ++i) sum += part[i];
  out[blockIdx.x] = sum;
}
