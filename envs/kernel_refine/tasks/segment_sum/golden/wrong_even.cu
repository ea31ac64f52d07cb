// expect: wrong
// Takes every segment for 64 elements long and never looks at the offsets.
// hone: launch segment_sum grid = ceil_div(segments, 256) block = 256
#include <cstdint>

extern "C" __global__ void segment_sum(const float* x, const int32_t* offsets, float* out,
                                       int64_t segments) {
  const int64_t s = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (s >= segments) return;
  float sum = 0;
  for (int64_t i = 64 * s; i < 64 * s + 64; ++i) sum += x[i];
  out[s] = sum;
}
