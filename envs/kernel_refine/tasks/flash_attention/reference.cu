// The answers for flash_attention: scores into scratch memory, softmax over each row, weighted sums.
// hone: plan reference
// hone: scratch scores = 4 * heads * n * n
// hone: launch scores_as<float> grid = (ceil_div(n, 256), ceil_div(n, 8), heads) block = 256 args = q, k, scores, n
// hone: launch softmax_as<float> grid = heads * n block = 256 args = scores, n
// hone: launch weighted_as<float> grid = (ceil_div(n, 4), heads) block = (64, 4) args = scores, v, out, n
// hone: plan exact
// hone: scratch scores = 8 * heads * n * n
// hone: launch scores_as<double> grid = (ceil_div(n, 256), ceil_div(n, 8), heads) block = 256 args = q, k, scores, n
// hone: launch softmax_as<double> grid = heads * n block = 256 args = scores, n
// hone: launch weighted_as<double> grid = (ceil_div(n, 4), heads) block = (64, 4) args = scores, v, out, n
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

__device__ void put(__half* to, float value) { *to = __float2half(value); }
__device__ void put(double* to, double value) { *to = value; }
template <typename T>
struct Output {
  using Type = double;
};
template <>
struct Output<float> {
  using Type = __half;
};

// A block has 256 keys and eight queries, a thread one key.
template <typename T>
__global__ void scores_as(const __half* q, const __half* k, T* scores, int64_t n) {
  __shared__ T query[8][64];
  const int64_t head = blockIdx.z, i0 = int64_t{blockIdx.y} * 8;
  const int64_t j = int64_t{blockIdx.x} * 256 + threadIdx.x;
  for (int at = threadIdx.x; at < 8 * 64; at += 256) {
    const int64_t i = i0 + at / 64;
    query[at / 64][at % 64] = i < n ? __half2float(q[(head * n + i) * 64 + at % 64]) : 0.0f;
  }
  __syncthreads();
  if (j >= n) return;
  T dot[8] = {};
  for (int c = 0; c < 64; ++c) {
    const T right = __half2float(k[(head * n + j) * 64 + c]);
    for (int i = 0; i < 8; ++i) dot[i] += query[i][c] * right;
  }
  for (int i = 0; i < 8 && i0 + i < n; ++i) scores[(head * n + i0 + i) * n + j] = dot[i] / 8;
}

template <typename T>
__global__ void softmax_as(T* scores, int64_t n) {
  __shared__ T part[256];
  const int t = threadIdx.x;
  T* score = scores + blockIdx.x * n;
  T top = score[0];
  for (int64_t j = t; j < n; j += 256) top = score[j] > top ? score[j] : top;
  part[t] = top;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half && part[t + half] > part[t]) part[t] = part[t + half];
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  T sum = 0;
  for (int64_t j = t; j < n; j += 256) sum += score[j] = exp(score[j] - top);
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  sum = part[0];
  for (int64_t j = t; j < n; j += 256) score[j] /= sum;
}

template <typename T>
__global__ void weighted_as(const T* scores, const __half* v, typename Output<T>::Type* out, int64_t n) {
  const int64_t head = blockIdx.y, i = int64_t{blockIdx.x} * 4 + threadIdx.y, c = threadIdx.x;
  if (i >= n) return;
  const T* weight = scores + (head * n + i) * n;
  T sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += weight[j] * static_cast<T>(__half2float(v[(head * n + j) * 64 + c]));
  put(out + (head * n + i) * 64 + c, sum);
}
