// matmul with one planted fault: no tiles, so each multiplication loads both factors from global memory.
// hone: launch matmul grid = (ceil_div(n, 32), ceil_div(m, 8)) block = (32, 8)
#include <cstdint>

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n,
                                  int64_t k) {
  const int64_t row = int64_t{blockIdx.y} * 8 + threadIdx.y;
  const int64_t col = int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int64_t p = 0; p < k; ++p) sum += a[row * k + p] * b[p * n + col];
  c[row * n + col] = sum;
}
