// The answers for matmul_int8: 16 × 16 tiles through shared memory. Whole numbers, so both forms are the same.
// hone: plan reference
// hone: launch product grid = (ceil_div(n, 16), ceil_div(m, 16)) block = (16, 16)
// hone: plan exact
// hone: launch product grid = (ceil_div(n, 16), ceil_div(m, 16)) block = (16, 16)
#include <cstdint>

extern "C" __global__ void product(const int8_t* a, const int8_t* b, int32_t* c, int64_t m,
                                   int64_t n, int64_t k) {
  __shared__ int tile_a[16][17], tile_b[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t row = int64_t{blockIdx.y} * 16 + ty, col0 = int64_t{blockIdx.x} * 16;
  int32_t sum = 0;
  for (int64_t p0 = 0; p0 < k; p0 += 16) {
    tile_a[ty][tx] = row < m && p0 + tx < k ? a[row * k + p0 + tx] : 0;
    tile_b[ty][tx] = col0 + ty < n && p0 + tx < k ? b[(col0 + ty) * k + p0 + tx] : 0;
    __syncthreads();
    for (int p = 0; p < 16; ++p) sum += tile_a[ty][p] * tile_b[tx][p];
    __syncthreads();
  }
  if (row < m && col0 + tx < n) c[row * n + col0 + tx] = sum;
}
