// expect: correct speedup<1
// Right, but a thread per element that reads a whole row and column from global memory, and multiplies without tensor cores.
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
  float sum = 0;
  for (int64_t p = 0; p < k; ++p) sum += __half2float(a[row * k + p]) * __half2float(b[p * n + col]);
  c[row * n + col] = sum;
}
