// What is timed against for softmax_long: a block of 1024 threads per row, three passes over it, with reductions in shared memory.
// hone: launch softmax_long grid = rows block = 1024
#include <cstdint>

extern "C" __global__ void softmax_long(const float* x, float* out, int64_t rows, int64_t cols) {
  __shared__ float part[1024];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  float* o = out + blockIdx.x * cols;

  float top = in[0];
  for (int64_t c = t; c < cols; c += 1024) top = fmaxf(top, in[c]);
  part[t] = top;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();

  float sum = 0;
  for (int64_t c = t; c < cols; c += 1024) sum += expf(in[c] - top);
  part[t] = sum;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float scale = 1.0f / part[0];
  for (int64_t c = t; c < cols; c += 1024) o[c] = expf(in[c] - top) * scale;
}
