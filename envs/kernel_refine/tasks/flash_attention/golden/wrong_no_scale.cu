// expect: wrong
// Forgets to divide the scores by the root of the head's width.
// hone: launch flash_attention grid = (ceil_div(n, 64), heads) block = 64
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

extern "C" __global__ void flash_attention(const __half* q, const __half* k, const __half* v, __half* out,
                                           int64_t heads, int64_t n) {
  const int64_t first = blockIdx.y * n, i = int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (i >= n) return;
  float query[64], sum[64];
  for (int c = 0; c < 64; ++c) {
    query[c] = __half2float(q[(first + i) * 64 + c]);
    sum[c] = 0;
  }
  float top = -1e30f, total = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t j = 0; j < n; ++j) {
      float score = 0;
      for (int c = 0; c < 64; ++c) score += query[c] * __half2float(k[(first + j) * 64 + c]);
      if (pass == 0) {
        top = fmaxf(top, score);
        continue;
      }
      const float weight = expf(score - top);
      total += weight;
      for (int c = 0; c < 64; ++c) sum[c] += weight * __half2float(v[(first + j) * 64 + c]);
    }
  }
  for (int c = 0; c < 64; ++c) out[(first + i) * 64 + c] = __float2half(sum[c] / total);
}
