// What is timed against for matmul: 32 × 32 tiles through shared memory, four rows a thread.
// hone: launch matmul grid = (ceil_div(n, 32), ceil_div(m, 32)) block = (32, 8)
#include <cstdint>

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n,
                                  int64_t k) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t row0 = int64_t{blockIdx.y} * 32, col = int64_t{blockIdx.x} * 32 + tx;
  float sum[4] = {0, 0, 0, 0};
  for (int64_t p0 = 0; p0 < k; p0 += 32) {
    for (int r = ty; r < 32; r += 8) {
      tile_a[r][tx] = row0 + r < m && p0 + tx < k ? a[(row0 + r) * k + p0 + tx] : 0.0f;
      tile_b[r][tx] = p0 + r < k && col < n ? b[(p0 + r) * n + col] : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < 32; ++p) {
      const float right = tile_b[p][tx];
      for (int i = 0; i < 4; ++i) sum[i] += tile_a[ty + 8 * i][p] * right;
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const int64_t row = row0 + ty + 8 * i;
    if (row < m && col < n) c[row * n + col] = sum[i];
  }
}
