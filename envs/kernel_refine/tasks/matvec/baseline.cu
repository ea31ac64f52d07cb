// What is timed against for matvec: a block per row, coalesced reads, and a tree in shared memory.
// hone: launch matvec grid = rows block = 256
#include <cstdint>

extern "C" __global__ void matvec(const float* a, const float* x, float* y, int64_t rows,
                                  int64_t cols) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  float sum = 0;
  for (int64_t c = t; c < cols; c += 256) sum += a[blockIdx.x * cols + c] * x[c];
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}
