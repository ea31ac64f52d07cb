// matmul with one planted fault: the launch bound leaves 32 registers for a thread that needs three times as many.
// hone: launch matmul grid = (ceil_div(n, 128), ceil_div(m, 64)) block = (32, 8)
#include <cstdint>

constexpr int kRows = 8, kCols = 4, kDepth = 16;

extern "C" __global__ void __launch_bounds__(256, 8)
    matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  __shared__ float tile_a[64][kDepth], tile_b[kDepth][128];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
  const int64_t row0 = int64_t{blockIdx.y} * 64, col0 = int64_t{blockIdx.x} * 128;
  float sum[kRows][kCols] = {};
  for (int64_t p0 = 0; p0 < k; p0 += kDepth) {
    for (int i = t; i < 64 * kDepth; i += 256) {
      const int r = i / kDepth, p = i % kDepth;
      tile_a[r][p] = row0 + r < m && p0 + p < k ? a[(row0 + r) * k + p0 + p] : 0.0f;
    }
    for (int i = t; i < kDepth * 128; i += 256) {
      const int p = i / 128, j = i % 128;
      tile_b[p][j] = p0 + p < k && col0 + j < n ? b[(p0 + p) * n + col0 + j] : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      float right[kCols];
#pragma unroll
      for (int j = 0; j < kCols; ++j) right[j] = tile_b[p][tx + 32 * j];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float left = tile_a[ty * kRows + i][p];
#pragma unroll
        for (int j = 0; j < kCols; ++j) sum[i][j] += left * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
      const int64_t row = row0 + ty * kRows + i, col = col0 + tx + 32 * j;
      if (row < m && col < n) c[row * n + col] = sum[i][j];
    }
  }
}
