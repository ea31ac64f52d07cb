// What is timed against for segment_sum: 32 threads per segment, coalesced reads, and a tree in shared memory.
// hone: launch segment_sum grid = ceil_div(segments, 8) block = (32, 8)
#include <cstdint>

extern "C" __global__ void segment_sum(const float* x, const int32_t* offsets, float* out,
                                       int64_t segments) {
  __shared__ float part[8][32];
  const int t = threadIdx.x;
  const int64_t s = int64_t{blockIdx.x} * 8 + threadIdx.y;
  float* mine = part[threadIdx.y];
  float sum = 0;
  if (s < segments) {
    for (int64_t i = offsets[s] + t; i < offsets[s + 1]; i += 32) sum += x[i];
  }
  mine[t] = sum;
  __syncthreads();
  for (int half = 16; half > 0; half /= 2) {
    if (t < half) mine[t] += mine[t + half];
    __syncthreads();
  }
  if (t == 0 && s < segments) out[s] = mine[0];
}
