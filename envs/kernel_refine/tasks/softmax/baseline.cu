// What is timed against for softmax: a block per row and three passes over it, with reductions in shared memory.
// hone: launch softmax grid = rows block = 256
#include <cstdint>

extern "C" __global__ void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  float* o = out + blockIdx.x * cols;

  float top = in[0];
  for (int64_t c = t; c < cols; c += 256) top = fmaxf(top, in[c]);
  part[t] = top;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();

  float sum = 0;
  for (int64_t c = t; c < cols; c += 256) sum += expf(in[c] - top);
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float scale = 1.0f / part[0];
  for (int64_t c = t; c < cols; c += 256) o[c] = expf(in[c] - top) * scale;
}
