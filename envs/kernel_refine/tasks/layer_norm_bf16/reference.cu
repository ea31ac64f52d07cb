// The answers for layer_norm_bf16: a block per row finds the mean, then the variance about it, then writes.
// hone: plan reference
// hone: launch layer_norm_as<float> grid = rows block = 256
// hone: plan exact
// hone: launch layer_norm_as<double> grid = rows block = 256
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
__device__ T block_sum(T* part, T own) {
  const int t = threadIdx.x;
  part[t] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const T sum = part[0];
  __syncthreads();
  return sum;
}

template <typename T>
__global__ void layer_norm_as(const uint16_t* x, const uint16_t* residual, const float* gamma,
                              const float* beta, typename Output<T>::Type* out, int64_t rows,
                              int64_t cols) {
  __shared__ T part[256];
  const int64_t row = blockIdx.x * cols;
  const auto both = [&](int64_t c) {
    return static_cast<T>(widened(x[row + c])) + static_cast<T>(widened(residual[row + c]));
  };
  T sum = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) sum += both(c);
  const T mean = block_sum(part, sum) / static_cast<T>(cols);
  T squares = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 256) squares += (both(c) - mean) * (both(c) - mean);
  const T variance = block_sum(part, squares) / static_cast<T>(cols);
  const T scale = 1 / sqrt(variance + static_cast<T>(1e-5));
  for (int64_t c = threadIdx.x; c < cols; c += 256) {
    put(out + row + c, (both(c) - mean) * scale * static_cast<T>(gamma[c]) + static_cast<T>(beta[c]));
  }
}
