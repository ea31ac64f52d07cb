// What is timed against for attention: three kernels, unfused: tiled scores into scratch memory, softmax, tiled product.
// hone: scratch scores = 4 * n * n
// hone: launch scores_of grid = (ceil_div(n, 16), ceil_div(n, 16)) block = (16, 16) args = q, k, scores, n, d
// hone: launch softmax grid = n block = 256 args = scores, n
// hone: launch product grid = (ceil_div(d, 16), ceil_div(n, 16)) block = (16, 16) args = scores, v, out, n, d
#include <cstdint>

extern "C" __global__ void scores_of(const float* q, const float* k, float* scores, int64_t n,
                                     int64_t d) {
  __shared__ float tile_q[16][17], tile_k[16][17];
  if (blockIdx.x > blockIdx.y) return;  // above the diagonal nobody looks
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t i = int64_t{blockIdx.y} * 16 + ty, j0 = int64_t{blockIdx.x} * 16;
  float dot = 0;
  for (int64_t c0 = 0; c0 < d; c0 += 16) {
    const bool inside = c0 + tx < d;
    tile_q[ty][tx] = inside && i < n ? q[i * d + c0 + tx] : 0.0f;
    tile_k[ty][tx] = inside && j0 + ty < n ? k[(j0 + ty) * d + c0 + tx] : 0.0f;
    __syncthreads();
    for (int c = 0; c < 16; ++c) dot += tile_q[ty][c] * tile_k[tx][c];
    __syncthreads();
  }
  if (i < n && j0 + tx < n) scores[i * n + j0 + tx] = dot / sqrtf(static_cast<float>(d));
}

// Row i up to the diagonal; zeros behind it, as far as product() reads.
extern "C" __global__ void softmax(float* scores, int64_t n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  const int64_t i = blockIdx.x;
  float* score = scores + i * n;
  float top = score[0];
  for (int64_t j = t; j <= i; j += 256) top = fmaxf(top, score[j]);
  part[t] = top;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0;
  for (int64_t j = t; j <= i; j += 256) sum += score[j] = expf(score[j] - top);
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float scale = 1.0f / part[0];
  const int64_t end = (i / 16 + 1) * 16;
  for (int64_t j = t; j < end && j < n; j += 256) score[j] = j <= i ? score[j] * scale : 0.0f;
}

extern "C" __global__ void product(const float* scores, const float* v, float* out, int64_t n,
                                   int64_t d) {
  __shared__ float tile_s[16][16], tile_v[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t i = int64_t{blockIdx.y} * 16 + ty, c = int64_t{blockIdx.x} * 16 + tx;
  const int64_t end = (int64_t{blockIdx.y} + 1) * 16;
  float sum = 0;
  for (int64_t j0 = 0; j0 < end && j0 < n; j0 += 16) {
    tile_s[ty][tx] = i < n && j0 + tx < n ? scores[i * n + j0 + tx] : 0.0f;
    tile_v[ty][tx] = j0 + ty < n && c < d ? v[(j0 + ty) * d + c] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += tile_s[ty][j] * tile_v[j][tx];
    __syncthreads();
  }
  if (i < n && c < d) out[i * d + c] = sum;
}
