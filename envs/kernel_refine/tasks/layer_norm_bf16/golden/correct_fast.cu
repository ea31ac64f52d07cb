// expect: correct speedup>1
// Reads each row once, eight elements at a time, and keeps its sums in registers for all three passes.
// hone: launch layer_norm_bf16 grid = rows block = 256
#include <cstdint>

__device__ float lower(unsigned two) { return __uint_as_float(two << 16); }
__device__ float upper(unsigned two) { return __uint_as_float(two & 0xffff0000u); }
__device__ unsigned narrowed(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

__device__ float block_sum(float* part, float own) {
  const int t = threadIdx.x;
  part[t] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float sum = part[0];
  __syncthreads();
  return sum;
}

__device__ void add(float* sums, const uint16_t* x, const uint16_t* residual, int64_t at) {
  const uint4 a = *reinterpret_cast<const uint4*>(x + at), b = *reinterpret_cast<const uint4*>(residual + at);
  sums[0] = lower(a.x) + lower(b.x);
  sums[1] = upper(a.x) + upper(b.x);
  sums[2] = lower(a.y) + lower(b.y);
  sums[3] = upper(a.y) + upper(b.y);
  sums[4] = lower(a.z) + lower(b.z);
  sums[5] = upper(a.z) + upper(b.z);
  sums[6] = lower(a.w) + lower(b.w);
  sums[7] = upper(a.w) + upper(b.w);
}

constexpr int kKept = 3;  // vectors of eight that a thread keeps: rows of up to 6144

extern "C" __global__ void layer_norm_bf16(const uint16_t* x, const uint16_t* residual,
                                           const float* gamma, const float* beta, uint16_t* out,
                                           int64_t rows, int64_t cols) {
  __shared__ float part[256];
  const int64_t row = blockIdx.x * cols;
  const int vectors = static_cast<int>(cols / 8), t = threadIdx.x;
  alignas(16) float kept[kKept][8], sum = 0, squares = 0, spare[8];
#pragma unroll
  for (int i = 0; i < kKept; ++i) {
    if (t + 256 * i >= vectors) continue;
    add(kept[i], x, residual, row + (t + 256 * i) * 8);
    for (int e = 0; e < 8; ++e) sum += kept[i][e];
  }
  for (int v = t + 256 * kKept; v < vectors; v += 256) {
    add(spare, x, residual, row + v * 8);
    for (int e = 0; e < 8; ++e) sum += spare[e];
  }
  const float mean = block_sum(part, sum) / cols;
#pragma unroll
  for (int i = 0; i < kKept; ++i) {
    if (t + 256 * i >= vectors) continue;
    for (int e = 0; e < 8; ++e) squares += (kept[i][e] - mean) * (kept[i][e] - mean);
  }
  for (int v = t + 256 * kKept; v < vectors; v += 256) {
    add(spare, x, residual, row + v * 8);
    for (int e = 0; e < 8; ++e) squares += (spare[e] - mean) * (spare[e] - mean);
  }
  const float scale = 1.0f / sqrtf(block_sum(part, squares) / cols + 1e-5f);
  const auto write = [&](const float* values, int v) {
    unsigned bits[8];
    alignas(16) float times[8], plus[8];
    for (int q = 0; q < 2; ++q) {
      *reinterpret_cast<float4*>(times + 4 * q) = *reinterpret_cast<const float4*>(gamma + v * 8 + 4 * q);
      *reinterpret_cast<float4*>(plus + 4 * q) = *reinterpret_cast<const float4*>(beta + v * 8 + 4 * q);
    }
    for (int e = 0; e < 8; ++e) bits[e] = narrowed((values[e] - mean) * scale * times[e] + plus[e]);
    uint4 packed;
    packed.x = bits[0] | bits[1] << 16;
    packed.y = bits[2] | bits[3] << 16;
    packed.z = bits[4] | bits[5] << 16;
    packed.w = bits[6] | bits[7] << 16;
    *reinterpret_cast<uint4*>(out + row + v * 8) = packed;
  };
#pragma unroll
  for (int i = 0; i < kKept; ++i) {
    if (t + 256 * i < vectors) write(kept[i], t + 256 * i);
  }
  for (int v = t + 256 * kKept; v < vectors; v += 256) {
    add(spare, x, residual, row + v * 8);
    write(spare, v);
  }
}
