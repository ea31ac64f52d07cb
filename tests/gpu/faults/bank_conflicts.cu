// rms_norm with one planted fault: each thread adds 32 neighbouring elements of a row in shared memory, so all
// threads of a warp use the same bank.
// hone: launch rms_norm grid = rows block = 128
#include <cstdint>

extern "C" __global__ void rms_norm(const float* x, const float* weight, float* out, int64_t rows,
                                    int64_t cols, float eps) {
  __shared__ float row[4096];
  __shared__ float part[4];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  float* o = out + blockIdx.x * cols;
  float squares = 0;
  for (int64_t begin = 0; begin < cols; begin += 4096) {
    for (int i = t; i < 4096; i += 128) row[i] = begin + i < cols ? in[begin + i] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 32; ++i) squares += row[t * 32 + i] * row[t * 32 + i];
    __syncthreads();
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) squares += __shfl_xor_sync(~0u, squares, lanes);
  if (t % 32 == 0) part[t / 32] = squares;
  __syncthreads();
  const float scale = 1.0f / sqrtf((part[0] + part[1] + part[2] + part[3]) / cols + eps);
  for (int64_t c = t; c < cols; c += 128) o[c] = in[c] * scale * weight[c];
}
