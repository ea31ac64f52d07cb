// expect: correct speedup<1
// Right, but a thread per element that reads a whole row and column from global memory, and multiplies without tensor cores.
// hone: launch matmul_bf16 grid = (ceil_div(n, 32), ceil_div(m, 8)) block = (32, 8)
#include <cstdint>

__device__ float widened(uint16_t bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
__device__ uint16_t narrowed(float value) {
  const unsigned bits = __float_as_uint(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

extern "C" __global__ void matmul_bf16(const uint16_t* a, const uint16_t* b, uint16_t* c, int64_t m, int64_t n, int64_t k) {
  const int64_t row = int64_t{blockIdx.y} * 8 + threadIdx.y, col = int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int64_t p = 0; p < k; ++p) sum += widened(a[row * k + p]) * widened(b[p * n + col]);
  c[row * n + col] = narrowed(sum);
}
