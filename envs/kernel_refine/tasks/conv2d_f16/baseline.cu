// What is timed against for conv2d_f16: 16 × 16 tiles of each plane through shared memory, eight output planes a thread, no tensor cores.
// hone: launch conv2d_f16 grid = (ceil_div(w, 16), ceil_div(h, 16), batch * ceil_div(c_out, 8)) block = (16, 16)
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

extern "C" __global__ void conv2d_f16(const __half* x, const __half* weight, const float* bias,
                                      __half* out, int64_t batch, int64_t c_in, int64_t c_out,
                                      int64_t h, int64_t w) {
  __shared__ float tile[18][18], taps[8][9];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const int64_t r0 = int64_t{blockIdx.y} * 16, c0 = int64_t{blockIdx.x} * 16;
  const int64_t groups = (c_out + 7) / 8, b = blockIdx.z / groups, o0 = blockIdx.z % groups * 8;
  float sum[8] = {};
  for (int64_t i = 0; i < c_in; ++i) {
    for (int at = t; at < 18 * 18; at += 256) {
      const int64_t r = r0 + at / 18 - 1, c = c0 + at % 18 - 1;
      const bool inside = r >= 0 && r < h && c >= 0 && c < w;
      tile[at / 18][at % 18] = inside ? __half2float(x[((b * c_in + i) * h + r) * w + c]) : 0.0f;
    }
    if (t < 72) {
      const int64_t o = o0 + t / 9;
      taps[t / 9][t % 9] = o < c_out ? __half2float(weight[(o * c_in + i) * 9 + t % 9]) : 0.0f;
    }
    __syncthreads();
    for (int tap = 0; tap < 9; ++tap) {
      const float v = tile[ty + tap / 3][tx + tap % 3];
      for (int o = 0; o < 8; ++o) sum[o] += v * taps[o][tap];
    }
    __syncthreads();
  }
  const int64_t r = r0 + ty, c = c0 + tx;
  if (r >= h || c >= w) return;
  for (int o = 0; o < 8 && o0 + o < c_out; ++o) {
    out[((b * c_out + o0 + o) * h + r) * w + c] = __float2half(sum[o] + bias[o0 + o]);
  }
}
