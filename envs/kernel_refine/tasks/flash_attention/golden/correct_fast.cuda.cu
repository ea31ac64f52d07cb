// expect: correct speedup>1
// Fused, with both products on tensor cores: four warps of 16 queries each, 32 keys at a time, weights in half precision.
// hone: launch flash_attention grid = (ceil_div(n, 64), heads) block = 128
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdint>

using namespace nvcuda;

// 64 rows of a head from `at` on, zeros behind the end of the sequence.
__device__ void load(__half (*to)[72], const __half* from, int rows, int64_t at, int64_t n) {
  for (int v = threadIdx.x; v < rows * 8; v += 128) {  // vectors of eight
    const uint4 zero = {0, 0, 0, 0};
    *reinterpret_cast<uint4*>(&to[v / 8][v % 8 * 8]) =
        at + v / 8 < n ? *reinterpret_cast<const uint4*>(from + (at + v / 8) * 64 + v % 8 * 8) : zero;
  }
}

extern "C" __global__ void flash_attention(const __half* q, const __half* k, const __half* v, __half* out,
                                           int64_t heads, int64_t n) {
  __shared__ __align__(32) __half queries[64][72], keys[32][72], values[32][72];
  __shared__ __align__(32) float scores[64][40], sums[64][72];
  // The weights take the queries' place, which are kept in fragments.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row0 = warp * 16;
  const int64_t head = blockIdx.y * n * 64, i0 = int64_t{blockIdx.x} * 64;
  load(queries, q + head, 64, i0, n);
  for (int at = threadIdx.x; at < 64 * 72; at += 128) sums[at / 72][at % 72] = 0;
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> query[4];
  for (int c = 0; c < 4; ++c) wmma::load_matrix_sync(query[c], &queries[row0][16 * c], 72);
  const int row = row0 + lane / 2, side = lane % 2;  // two lanes share a row
  float top = -1e30f, total = 0;
  for (int64_t j0 = 0; j0 < n; j0 += 32) {
    __syncthreads();
    load(keys, k + head, 32, j0, n);
    load(values, v + head, 32, j0, n);
    __syncthreads();
    for (int j = 0; j < 2; ++j) {
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> dots;
      wmma::fill_fragment(dots, 0.0f);
      for (int c = 0; c < 4; ++c) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> key;
        wmma::load_matrix_sync(key, &keys[16 * j][16 * c], 72);
        wmma::mma_sync(dots, query[c], key, dots);
      }
      wmma::store_matrix_sync(&scores[row0][16 * j], dots, 40, wmma::mem_row_major);
    }
    __syncwarp();
    float own[16], tile_top = top;
    for (int j = 0; j < 16; ++j) {
      own[j] = j0 + side * 16 + j < n ? scores[row][side * 16 + j] / 8 : -1e30f;
      tile_top = fmaxf(tile_top, own[j]);
    }
    tile_top = fmaxf(tile_top, __shfl_xor_sync(0xffffffffu, tile_top, 1));
    const float shrink = expf(top - tile_top);
    top = tile_top;
    total *= shrink;
    for (int j = 0; j < 16; ++j) {
      const float weight = expf(own[j] - top);
      total += weight;
      queries[row][side * 16 + j] = __float2half(weight);
    }
    for (int c = 0; c < 32; ++c) sums[row][side * 32 + c] *= shrink;
    __syncwarp();
    for (int c = 0; c < 4; ++c) {
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
      wmma::load_matrix_sync(sum, &sums[row0][16 * c], 72, wmma::mem_row_major);
      for (int j = 0; j < 2; ++j) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> weight;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> value;
        wmma::load_matrix_sync(weight, &queries[row0][16 * j], 72);
        wmma::load_matrix_sync(value, &values[16 * j][16 * c], 72);
        wmma::mma_sync(sum, weight, value, sum);
      }
      wmma::store_matrix_sync(&sums[row0][16 * c], sum, 72, wmma::mem_row_major);
    }
    __syncwarp();
  }
  total += __shfl_xor_sync(0xffffffffu, total, 1);
  if (i0 + row >= n) return;
  for (int c = 0; c < 32; ++c) {
    out[head + (i0 + row) * 64 + side * 32 + c] = __float2half(sums[row][side * 32 + c] / total);
  }
}
