// What is timed against for flash_attention: fused, a query per thread, 32 keys at a time in shared memory, single-precision arithmetic.
// hone: launch flash_attention grid = (ceil_div(n, 128), heads) block = 128
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

extern "C" __global__ void flash_attention(const __half* q, const __half* k, const __half* v, __half* out,
                                           int64_t heads, int64_t n) {
  __shared__ float keys[32][64], values[32][64];
  const int t = threadIdx.x;
  const int64_t first = blockIdx.y * n, i = int64_t{blockIdx.x} * 128 + t;
  float query[64], sum[64], top = -1e30f, total = 0;
  for (int c = 0; c < 64; ++c) {
    query[c] = i < n ? __half2float(q[(first + i) * 64 + c]) / 8 : 0.0f;
    sum[c] = 0;
  }
  for (int64_t j0 = 0; j0 < n; j0 += 32) {
    for (int at = t; at < 32 * 64; at += 128) {
      const bool inside = j0 + at / 64 < n;
      keys[at / 64][at % 64] = inside ? __half2float(k[(first + j0) * 64 + at]) : 0.0f;
      values[at / 64][at % 64] = inside ? __half2float(v[(first + j0) * 64 + at]) : 0.0f;
    }
    __syncthreads();
    const int here = n - j0 < 32 ? static_cast<int>(n - j0) : 32;
    float score[32], tile_top = top;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      float dot = 0;
#pragma unroll
      for (int c = 0; c < 64; ++c) dot += query[c] * keys[j][c];
      score[j] = j < here ? dot : -1e30f;
      tile_top = fmaxf(tile_top, score[j]);
    }
    const float shrink = expf(top - tile_top);
    top = tile_top;
    total *= shrink;
#pragma unroll
    for (int c = 0; c < 64; ++c) sum[c] *= shrink;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      const float weight = j < here ? expf(score[j] - top) : 0.0f;
      total += weight;
#pragma unroll
      for (int c = 0; c < 64; ++c) sum[c] += weight * values[j][c];
    }
    __syncthreads();
  }
  if (i >= n) return;
  for (int c = 0; c < 64; ++c) out[(first + i) * 64 + c] = __float2half(sum[c] / total);
}
