// The answers for attention: a block per row: scores into scratch memory, softmax, weighted sum.
// hone: plan reference
// hone: scratch scores = 4 * n * n
// hone: launch attention_as<float> grid = n block = 256 args = q, k, v, out, scores, n, d
// hone: plan exact
// hone: scratch scores = 8 * n * n
// hone: launch attention_as<double> grid = n block = 256 args = q, k, v, out, scores, n, d
#include <cstdint>

template <typename T>
__global__ void attention_as(const float* q, const float* k, const float* v, T* out, T* scores,
                             int64_t n, int64_t d) {
  __shared__ T part[256];
  const int t = threadIdx.x;
  const int64_t i = blockIdx.x;
  T* score = scores + i * n;
  const T scale = 1 / sqrt(static_cast<T>(d));
  T top = -1e30f;
  for (int64_t j = t; j <= i; j += 256) {
    T dot = 0;
    for (int64_t c = 0; c < d; ++c) dot += static_cast<T>(q[i * d + c]) * static_cast<T>(k[j * d + c]);
    score[j] = dot * scale;
    top = score[j] > top ? score[j] : top;
  }
  part[t] = top;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half && part[t + half] > part[t]) part[t] = part[t + half];
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  T sum = 0;
  for (int64_t j = t; j <= i; j += 256) sum += score[j] = exp(score[j] - top);
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  sum = part[0];
  for (int64_t c = t; c < d; c += 256) {
    T weighted = 0;
    for (int64_t j = 0; j <= i; ++j) weighted += score[j] * static_cast<T>(v[j * d + c]);
    out[i * d + c] = weighted / sum;
  }
}
