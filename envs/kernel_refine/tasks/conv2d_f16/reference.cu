// The answers for conv2d_f16: the definition, an output per thread.
// hone: plan reference
// hone: launch conv2d_as<float> grid = ceil_div(batch * c_out * h * w, 256) block = 256
// hone: plan exact
// hone: launch conv2d_as<double> grid = ceil_div(batch * c_out * h * w, 256) block = 256
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

__device__ void put(__half* to, float value) { *to = __float2half(value); }
__device__ void put(double* to, double value) { *to = value; }
template <typename T>
struct Output {
  using Type = double;
};
template <>
struct Output<float> {
  using Type = __half;
};

template <typename T>
__global__ void conv2d_as(const __half* x, const __half* weight, const float* bias,
                          typename Output<T>::Type* out, int64_t batch, int64_t c_in, int64_t c_out,
                          int64_t h, int64_t w) {
  const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at >= batch * c_out * h * w) return;
  const int64_t c = at % w, r = at / w % h, o = at / (w * h) % c_out, b = at / (w * h * c_out);
  T sum = bias[o];
  for (int64_t i = 0; i < c_in; ++i) {
    for (int64_t dr = 0; dr < 3; ++dr) {
      for (int64_t dc = 0; dc < 3; ++dc) {
        const int64_t y = r + dr - 1, z = c + dc - 1;
        if (y < 0 || y >= h || z < 0 || z >= w) continue;
        sum += static_cast<T>(__half2float(x[((b * c_in + i) * h + y) * w + z])) *
               static_cast<T>(__half2float(weight[((o * c_in + i) * 3 + dr) * 3 + dc]));
      }
    }
  }
  put(out + at, sum);
}
