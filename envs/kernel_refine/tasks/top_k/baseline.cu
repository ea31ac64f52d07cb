// What is timed against for top_k: a block per row, which is searched k times for the best one that is left.
// hone: launch top_k grid = rows block = 256
#include <cstdint>

__device__ bool comes_first(float a, int64_t at, float b, int64_t other) {
  return a > b || (a == b && at < other);
}

extern "C" __global__ void top_k(const float* x, float* values, int32_t* indices, int64_t rows,
                                 int64_t cols, int64_t k) {
  __shared__ float value[256];
  __shared__ int64_t place[256];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  float last = 0;
  int64_t last_at = -1;  // none yet
  for (int64_t i = 0; i < k; ++i) {
    float best = 0;
    int64_t best_at = cols;  // none
    for (int64_t c = t; c < cols; c += 256) {
      const bool left = last_at < 0 || comes_first(last, last_at, in[c], c);
      if (left && (best_at == cols || comes_first(in[c], c, best, best_at))) {
        best = in[c];
        best_at = c;
      }
    }
    value[t] = best;
    place[t] = best_at;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (t < half && place[t + half] < cols &&
          (place[t] == cols || comes_first(value[t + half], place[t + half], value[t], place[t]))) {
        value[t] = value[t + half];
        place[t] = place[t + half];
      }
      __syncthreads();
    }
    last = value[0];
    last_at = place[0];
    __syncthreads();
    if (t == 0) {
      values[blockIdx.x * k + i] = last;
      indices[blockIdx.x * k + i] = static_cast<int32_t>(last_at);
    }
  }
}
