// expect: correct speedup>1
// Sixteen output planes and two rows a thread: five reads of shared memory for 32 multiplications.
// hone: launch conv2d_f16 grid = (ceil_div(w, 16), ceil_div(h, 16), batch * ceil_div(c_out, 16)) block = (16, 8)
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

extern "C" __global__ void conv2d_f16(const __half* x, const __half* weight, const float* bias,
                                      __half* out, int64_t batch, int64_t c_in, int64_t c_out,
                                      int64_t h, int64_t w) {
  __shared__ float tile[18][18];
  __shared__ __align__(16) float taps[9][16];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const int64_t r0 = int64_t{blockIdx.y} * 16, c0 = int64_t{blockIdx.x} * 16;
  const int64_t groups = (c_out + 15) / 16, b = blockIdx.z / groups, o0 = blockIdx.z % groups * 16;
  float sum[2][16] = {};
  for (int64_t i = 0; i < c_in; ++i) {
    for (int at = t; at < 18 * 18; at += 128) {
      const int64_t r = r0 + at / 18 - 1, c = c0 + at % 18 - 1;
      const bool inside = r >= 0 && r < h && c >= 0 && c < w;
      tile[at / 18][at % 18] = inside ? __half2float(x[((b * c_in + i) * h + r) * w + c]) : 0.0f;
    }
    for (int at = t; at < 9 * 16; at += 128) {
      const int64_t o = o0 + at / 9;
      taps[at % 9][at / 9] = o < c_out ? __half2float(weight[(o * c_in + i) * 9 + at % 9]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      const float above = tile[ty + tap / 3][tx + tap % 3], below = tile[ty + 8 + tap / 3][tx + tap % 3];
#pragma unroll
      for (int four = 0; four < 4; ++four) {
        const float4 scale = *reinterpret_cast<const float4*>(&taps[tap][four * 4]);
        sum[0][four * 4] += above * scale.x;
        sum[0][four * 4 + 1] += above * scale.y;
        sum[0][four * 4 + 2] += above * scale.z;
        sum[0][four * 4 + 3] += above * scale.w;
        sum[1][four * 4] += below * scale.x;
        sum[1][four * 4 + 1] += below * scale.y;
        sum[1][four * 4 + 2] += below * scale.z;
        sum[1][four * 4 + 3] += below * scale.w;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t r = r0 + ty + 8 * half, c = c0 + tx;
#pragma unroll
    for (int o = 0; o < 16; ++o) {
      if (r < h && c < w && o0 + o < c_out) {
        out[((b * c_out + o0 + o) * h + r) * w + c] = __float2half(sum[half][o] + bias[o0 + o]);
      }
    }
  }
}
