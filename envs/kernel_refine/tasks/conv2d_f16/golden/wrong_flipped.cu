// expect: wrong
// Flips the taps, which is a convolution in the mathematical sense and not in the sense of neural networks.
// hone: launch conv2d_f16 grid = ceil_div(batch * c_out * h * w, 256) block = 256
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

extern "C" __global__ void conv2d_f16(const __half* x, const __half* weight, const float* bias,
                                      __half* out, int64_t batch, int64_t c_in, int64_t c_out,
                                      int64_t h, int64_t w) {
  const int64_t at = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (at >= batch * c_out * h * w) return;
  const int64_t c = at % w, r = at / w % h, o = at / (w * h) % c_out, b = at / (w * h * c_out);
  float sum = bias[o];
  for (int64_t i = 0; i < c_in; ++i) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t y = r + tap / 3 - 1, z = c + tap % 3 - 1;
      if (y < 0 || y >= h || z < 0 || z >= w) continue;
      sum += __half2float(x[((b * c_in + i) * h + y) * w + z]) *
             __half2float(weight[(o * c_in + i) * 9 + 8 - tap]);
    }
  }
  out[at] = __float2half(sum);
}
