// expect: correct speedup<1
// Right, but a whole block of 256 threads and eight rounds of its tree for each segment, most of which are short.
// hone: launch segment_sum grid = segments block = 256
#include <cstdint>

extern "C" __global__ void segment_sum(const float* x, const int32_t* offsets, float* out,
                                       int64_t segments) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  const int64_t s = blockIdx.x;
  float sum = 0;
  for (int64_t i = offsets[s] + t; i < offsets[s + 1]; i += 256) sum += x[i];
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[s] = part[0];
}
