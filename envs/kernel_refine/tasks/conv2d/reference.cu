// The answers for conv2d: the definition, an output per thread.
// hone: plan reference
// hone: launch conv2d_as<float> grid = ceil_div(c_out * (h - 2) * (w - 2), 256) block = 256
// hone: plan exact
// hone: launch conv2d_as<double> grid = ceil_div(c_out * (h - 2) * (w - 2), 256) block = 256
#include <cstdint>

template <typename T>
__global__ void conv2d_as(const float* x, const float* weight, const float* bias, T* out,
                          int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, plane = (h - 2) * (w - 2);
  if (at >= c_out * plane) return;
  const int64_t o = at / plane, r = at % plane / (w - 2), c = at % (w - 2);
  T sum = bias[o];
  for (int64_t i = 0; i < c_in; ++i) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      sum += static_cast<T>(x[(i * h + r + tap / 3) * w + c + tap % 3]) *
             static_cast<T>(weight[(o * c_in + i) * 9 + tap]);
    }
  }
  out[at] = sum;
}
