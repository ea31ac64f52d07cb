// The answers for segment_sum: a thread per segment, which adds in order.
// hone: plan reference
// hone: launch segment_sum_as<float> grid = ceil_div(segments, 64) block = 64
// hone: plan exact
// hone: launch segment_sum_as<double> grid = ceil_div(segments, 64) block = 64
#include <cstdint>

template <typename T>
__global__ void segment_sum_as(const float* x, const int32_t* offsets, T* out, int64_t segments) {
  const int64_t s = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (s >= segments) return;
  T sum = 0;
  for (int64_t i = offsets[s]; i < offsets[s + 1]; ++i) sum += static_cast<T>(x[i]);
  out[s] = sum;
}
