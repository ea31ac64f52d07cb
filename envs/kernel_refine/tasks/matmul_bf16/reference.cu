// The answers for matmul_bf16: 16 × 16 tiles through shared memory, each sum in order of p.
// hone: plan reference
// hone: launch matmul_as<float> grid = (ceil_div(n, 16), ceil_div(m, 16)) block = (16, 16)
// hone: plan exact
// hone: launch matmul_as<double> grid = (ceil_div(n, 16), ceil_div(m, 16)) block = (16, 16)
#include <cstdint>

// bfloat16 is the upper half of a float: by its bits it is the same for every vendor.
__device__ float widened(uint16_t bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
__device__ uint16_t narrowed(float value) {
  const unsigned bits = __float_as_uint(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

__device__ void put(uint16_t* to, float value) { *to = narrowed(value); }
__device__ void put(double* to, double value) { *to = value; }
template <typename T>
struct Output {
  using Type = double;
};
template <>
struct Output<float> {
  using Type = uint16_t;
};

template <typename T>
__global__ void matmul_as(const uint16_t* a, const uint16_t* b, typename Output<T>::Type* c, int64_t m,
                          int64_t n, int64_t k) {
  __shared__ T tile_a[16][16], tile_b[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t row = int64_t{blockIdx.y} * 16 + ty, col = int64_t{blockIdx.x} * 16 + tx;
  T sum = 0;
  for (int64_t p0 = 0; p0 < k; p0 += 16) {
    tile_a[ty][tx] = row < m && p0 + tx < k ? widened(a[row * k + p0 + tx]) : 0.0f;
    tile_b[ty][tx] = p0 + ty < k && col < n ? widened(b[(p0 + ty) * n + col]) : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) sum += tile_a[ty][p] * tile_b[p][tx];
    __syncthreads();
  }
  if (row < m && col < n) put(c + row * n + col, sum);
}
