// What is timed against for transpose: 32 × 32 tiles through shared memory, so that both sides are coalesced.
// hone: launch transpose grid = (ceil_div(cols, 32), ceil_div(rows, 32)) block = (32, 8)
#include <cstdint>

extern "C" __global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  __shared__ float tile[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t r0 = int64_t{blockIdx.y} * 32, c0 = int64_t{blockIdx.x} * 32;
  for (int i = ty; i < 32; i += 8) {
    if (r0 + i < rows && c0 + tx < cols) tile[i][tx] = x[(r0 + i) * cols + c0 + tx];
  }
  __syncthreads();
  for (int i = ty; i < 32; i += 8) {
    if (c0 + i < cols && r0 + tx < rows) out[(c0 + i) * rows + r0 + tx] = tile[tx][i];
  }
}
