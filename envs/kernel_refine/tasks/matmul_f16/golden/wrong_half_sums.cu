// expect: wrong
// Keeps its sums in half precision, which rounds at every step.
// hone: launch matmul_f16 grid = (ceil_div(n, 32), ceil_div(m, 8)) block = (32, 8)
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

extern "C" __global__ void matmul_f16(const __half* a, const __half* b, float* c, int64_t m, int64_t n, int64_t k) {
  const int64_t row = int64_t{blockIdx.y} * 8 + threadIdx.y, col = int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (row >= m || col >= n) return;
  __half sum = __float2half(0.0f);
  for (int64_t p = 0; p < k; ++p) sum = __float2half(__half2float(sum) + __half2float(a[row * k + p]) * __half2float(b[p * n + col]));
  c[row * n + col] = __half2float(sum);
}
