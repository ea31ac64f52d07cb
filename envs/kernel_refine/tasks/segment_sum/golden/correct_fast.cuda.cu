// expect: correct speedup>1
// A warp per segment that adds up by shuffles: no shared memory, and no block waits for its longest segment.
// hone: launch segment_sum grid = ceil_div(segments, 8) block = (32, 8)
#include <cstdint>

extern "C" __global__ void segment_sum(const float* x, const int32_t* offsets, float* out,
                                       int64_t segments) {
  const int64_t s = int64_t{blockIdx.x} * 8 + threadIdx.y;
  if (s >= segments) return;
  const int end = offsets[s + 1];
  float sum = 0;
  for (int i = offsets[s] + static_cast<int>(threadIdx.x); i < end; i += 32) sum += x[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) out[s] = sum;
}
