// The answers for rms_norm: a block per row adds the squares, then writes.
// hone: plan reference
// hone: launch rms_norm_as<float> grid = rows block = 256
// hone: plan exact
// hone: launch rms_norm_as<double> grid = rows block = 256
#include <cstdint>

template <typename T>
__global__ void rms_norm_as(const float* x, const float* weight, T* out, int64_t rows, int64_t cols,
                            float eps) {
  __shared__ T part[256];
  const int t = threadIdx.x;
  const float* in = x + blockIdx.x * cols;
  T* o = out + blockIdx.x * cols;
  T squares = 0;
  for (int64_t c = t; c < cols; c += 256) squares += static_cast<T>(in[c]) * static_cast<T>(in[c]);
  part[t] = squares;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const T scale = 1 / sqrt(part[0] / static_cast<T>(cols) + static_cast<T>(eps));
  for (int64_t c = t; c < cols; c += 256) {
    o[c] = static_cast<T>(in[c]) * scale * static_cast<T>(weight[c]);
  }
}
