// expect: correct speedup>1
// Rows are cut into stretches of 8192, a block each, so that all units work; maxima and sums are put together afterwards.
// hone: scratch partial = 8 * rows * ceil_div(cols, 8192)
// hone: launch stretches grid = (ceil_div(cols, 8192), rows) block = 256 args = x, partial, cols
// hone: launch divide grid = (ceil_div(cols, 8192), rows) block = 256 args = x, partial, out, cols
#include <cstdint>

// The maximum and the sum below it of two parts.
__device__ float2 joined(float2 a, float2 b) {
  const float top = fmaxf(a.x, b.x);
  float2 both;
  both.x = top;
  both.y = a.y * expf(a.x - top) + b.y * expf(b.x - top);
  return both;
}

extern "C" __global__ void stretches(const float* x, float2* partial, int64_t cols) {
  __shared__ float2 part[256];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.y * cols;
  const int64_t begin = int64_t{blockIdx.x} * 8192, end = begin + 8192 < cols ? begin + 8192 : cols;
  float top = -3e38f;
  for (int64_t c = begin + t; c < end; c += 256) top = fmaxf(top, in[c]);
  float sum = 0;
  for (int64_t c = begin + t; c < end; c += 256) sum += expf(in[c] - top);
  part[t].x = top;
  part[t].y = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] = joined(part[t], part[t + half]);
    __syncthreads();
  }
  if (t == 0) partial[int64_t{blockIdx.y} * gridDim.x + blockIdx.x] = part[0];
}

extern "C" __global__ void divide(const float* x, const float2* partial, float* out, int64_t cols) {
  const float2* mine = partial + int64_t{blockIdx.y} * gridDim.x;
  float2 all = mine[0];
  for (unsigned i = 1; i < gridDim.x; ++i) all = joined(all, mine[i]);
  const float scale = 1.0f / all.y;
  const int64_t begin = int64_t{blockIdx.x} * 8192, end = begin + 8192 < cols ? begin + 8192 : cols;
  const int64_t row = blockIdx.y * cols;
  for (int64_t c = begin + threadIdx.x; c < end; c += 256) out[row + c] = expf(x[row + c] - all.x) * scale;
}
