// What is timed against for matmul_int8: 32 × 32 tiles of bytes through shared memory, four rows a thread, plain products.
// hone: launch matmul_int8 grid = (ceil_div(n, 32), ceil_div(m, 32)) block = (32, 8)
#include <cstdint>

extern "C" __global__ void matmul_int8(const int8_t* a, const int8_t* b, int32_t* c, int64_t m,
                                       int64_t n, int64_t k) {
  __shared__ int8_t tile_a[32][32], tile_b[32][36];  // 36: the threads of a warp read different banks
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t row0 = int64_t{blockIdx.y} * 32, col0 = int64_t{blockIdx.x} * 32;
  int32_t sum[4] = {0, 0, 0, 0};
  for (int64_t p0 = 0; p0 < k; p0 += 32) {
    for (int r = ty; r < 32; r += 8) {
      const bool inside = p0 + tx < k;
      tile_a[r][tx] = inside && row0 + r < m ? a[(row0 + r) * k + p0 + tx] : 0;
      tile_b[r][tx] = inside && col0 + r < n ? b[(col0 + r) * k + p0 + tx] : 0;
    }
    __syncthreads();
    for (int p = 0; p < 32; ++p) {
      const int right = tile_b[tx][p];
      for (int i = 0; i < 4; ++i) sum[i] += tile_a[ty + 8 * i][p] * right;
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const int64_t row = row0 + ty + 8 * i;
    if (row < m && col0 + tx < n) c[row * n + col0 + tx] = sum[i];
  }
}
