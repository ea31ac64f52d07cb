// The answers for prefix_sum: sums of blocks of 2048, their running sums, then each block from there.
// hone: plan reference
// hone: scratch sums = 4 * ceil_div(n, 2048)
// hone: launch block_sums<float> grid = ceil_div(n, 2048) block = 256 args = x, sums, n
// hone: launch running<float> grid = 1 block = 1 args = sums, ceil_div(n, 2048)
// hone: launch scan_blocks<float> grid = ceil_div(n, 2048) block = 256 args = x, sums, out, n
// hone: plan exact
// hone: scratch sums = 8 * ceil_div(n, 2048)
// hone: launch block_sums<double> grid = ceil_div(n, 2048) block = 256 args = x, sums, n
// hone: launch running<double> grid = 1 block = 1 args = sums, ceil_div(n, 2048)
// hone: launch scan_blocks<double> grid = ceil_div(n, 2048) block = 256 args = x, sums, out, n
#include <cstdint>

// A thread has eight elements in a row. Returns the sum of those before it in the block.
template <typename T>
__device__ T before_mine(T* part, T own) {
  const int t = threadIdx.x;
  part[t] = own;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    const T left = t >= step ? part[t - step] : 0;
    __syncthreads();
    part[t] += left;
    __syncthreads();
  }
  return t > 0 ? part[t - 1] : 0;
}

template <typename T>
__global__ void block_sums(const float* x, T* sums, int64_t n) {
  __shared__ T part[256];
  const int64_t first = int64_t{blockIdx.x} * 2048 + threadIdx.x * 8;
  T own = 0;
  for (int64_t i = first; i < first + 8 && i < n; ++i) own += static_cast<T>(x[i]);
  const T before = before_mine(part, own);
  if (threadIdx.x == 255) sums[blockIdx.x] = before + own;
}

// From the sum of each block to the sum of all blocks before it.
template <typename T>
__global__ void running(T* sums, int64_t blocks) {
  T sum = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    const T own = sums[i];
    sums[i] = sum;
    sum += own;
  }
}

template <typename T>
__global__ void scan_blocks(const float* x, const T* sums, T* out, int64_t n) {
  __shared__ T part[256];
  const int64_t first = int64_t{blockIdx.x} * 2048 + threadIdx.x * 8;
  T own = 0;
  for (int64_t i = first; i < first + 8 && i < n; ++i) own += static_cast<T>(x[i]);
  T sum = sums[blockIdx.x] + before_mine(part, own);
  for (int64_t i = first; i < first + 8 && i < n; ++i) out[i] = sum += static_cast<T>(x[i]);
}
