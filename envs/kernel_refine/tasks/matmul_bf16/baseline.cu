// What is timed against for matmul_bf16: 64 × 64 tiles through shared memory, multiplied with wmma by four warps.
// hone: launch matmul_bf16 grid = (ceil_div(n, 64), ceil_div(m, 64)) block = 128
#include <cstdint>
#ifdef __HIP_PLATFORM_AMD__
typedef uint16_t bf16;
__device__ float widened(bf16 bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
__device__ bf16 narrowed(float value) {
  const unsigned bits = __float_as_uint(value);
  return static_cast<bf16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#else
#include <cuda_bf16.h>
#include <mma.h>
typedef __nv_bfloat16 bf16;
__device__ bf16 narrowed(float value) { return __float2bfloat16(value); }
#endif

extern "C" __global__ void matmul_bf16(const bf16* a, const bf16* b, bf16* c, int64_t m, int64_t n,
                                       int64_t k) {
  // Rows are longer than they need be, so that they begin in different banks.
  __shared__ __align__(32) bf16 tile_a[64][40];
  __shared__ __align__(32) bf16 tile_b[32][72];
  __shared__ __align__(32) float tile_c[64][72];
  const int t = threadIdx.x;
  const int64_t row0 = int64_t{blockIdx.y} * 64, col0 = int64_t{blockIdx.x} * 64;
#ifdef __HIP_PLATFORM_AMD__
  float sum[4][8] = {};
#else
  using namespace nvcuda;
  const int wy = t / 64 * 32, wx = t / 32 % 2 * 32;  // a warp has 32 × 32
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  }
#endif
  for (int64_t p0 = 0; p0 < k; p0 += 32) {
    for (int v = t; v < 256; v += 128) {  // vectors of eight
      const uint4 zero = {0, 0, 0, 0};
      const int ra = v / 4, ca = v % 4 * 8, rb = v / 8, cb = v % 8 * 8;
      *reinterpret_cast<uint4*>(&tile_a[ra][ca]) =
          row0 + ra < m && p0 + ca < k
              ? *reinterpret_cast<const uint4*>(a + (row0 + ra) * k + p0 + ca)
              : zero;
      *reinterpret_cast<uint4*>(&tile_b[rb][cb]) =
          p0 + rb < k && col0 + cb < n
              ? *reinterpret_cast<const uint4*>(b + (p0 + rb) * n + col0 + cb)
              : zero;
    }
    __syncthreads();
#ifdef __HIP_PLATFORM_AMD__
    for (int p = 0; p < 32; ++p) {
      for (int i = 0; i < 4; ++i) {
        const float left = widened(tile_a[t / 8 * 4 + i][p]);
        for (int j = 0; j < 8; ++j) sum[i][j] += left * widened(tile_b[p][t % 8 * 8 + j]);
      }
    }
#else
    for (int p = 0; p < 32; p += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> right[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(left[i], &tile_a[wy + 16 * i][p], 40);
        wmma::load_matrix_sync(right[i], &tile_b[p][wx + 16 * i], 72);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
      }
    }
#endif
    __syncthreads();
  }
#ifdef __HIP_PLATFORM_AMD__
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) tile_c[t / 8 * 4 + i][t % 8 * 8 + j] = sum[i][j];
  }
#else
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(&tile_c[wy + 16 * i][wx + 16 * j], sum[i][j], 72, wmma::mem_row_major);
    }
  }
#endif
  __syncthreads();
  for (int at = t; at < 64 * 64; at += 128) {
    const int64_t row = row0 + at / 64, col = col0 + at % 64;
    if (row < m && col < n) c[row * n + col] = narrowed(tile_c[at / 64][at % 64]);
  }
}
