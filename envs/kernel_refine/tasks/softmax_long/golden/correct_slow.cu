// expect: correct speedup<1
// Right, but with 64 threads for each of few rows, most of the device has nothing to do.
// hone: launch softmax_long grid = rows block = 64
#include <cstdint>

extern "C" __global__ void softmax_long(const float* x, float* out, int64_t rows, int64_t cols) {
  __shared__ float part[64];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  float* o = out + blockIdx.x * cols;

  float top = in[0];
  for (int64_t c = t; c < cols; c += 64) top = fmaxf(top, in[c]);
  part[t] = top;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();

  float sum = 0;
  for (int64_t c = t; c < cols; c += 64) sum += expf(in[c] - top);
  part[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float scale = 1.0f / part[0];
  for (int64_t c = t; c < cols; c += 64) o[c] = expf(in[c] - top) * scale;
}
