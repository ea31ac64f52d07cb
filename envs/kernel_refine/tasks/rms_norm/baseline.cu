// What is timed against for rms_norm: a block per row, which is read twice, with a tree in shared memory.
// hone: launch rms_norm grid = rows block = 256
#include <cstdint>

extern "C" __global__ void rms_norm(const float* x, const float* weight, float* out, int64_t rows,
                                    int64_t cols, float eps) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  float* o = out + blockIdx.x * cols;
  float squares = 0;
  for (int64_t c = t; c < cols; c += 256) squares += in[c] * in[c];
  part[t] = squares;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float scale = 1.0f / sqrtf(part[0] / cols + eps);
  for (int64_t c = t; c < cols; c += 256) o[c] = in[c] * scale * weight[c];
}
