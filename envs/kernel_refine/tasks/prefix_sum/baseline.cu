// What is timed against for prefix_sum: three kernels: sums of blocks of 1024, their scan in one block, and the blocks again.
// hone: scratch sums = 4 * ceil_div(n, 1024)
// hone: launch block_sums grid = ceil_div(n, 1024) block = 256 args = x, sums, n
// hone: launch scan_sums grid = 1 block = 1024 args = sums, ceil_div(n, 1024)
// hone: launch scan_blocks grid = ceil_div(n, 1024) block = 256 args = x, sums, out, n
#include <cstdint>

extern "C" __global__ void block_sums(const float* x, float* sums, int64_t n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  const int64_t first = int64_t{blockIdx.x} * 1024 + t;
  float own = 0;
  for (int64_t i = first; i < first + 1024 && i < n; i += 256) own += x[i];
  part[t] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

// Sums of all blocks before each, a stretch of 1024 blocks after the other.
extern "C" __global__ void scan_sums(float* sums, int64_t blocks) {
  __shared__ float part[1024];
  const int t = threadIdx.x;
  float carry = 0;
  for (int64_t first = 0; first < blocks; first += 1024) {
    const float own = first + t < blocks ? sums[first + t] : 0.0f;
    part[t] = own;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
      const float left = t >= step ? part[t - step] : 0.0f;
      __syncthreads();
      part[t] += left;
      __syncthreads();
    }
    if (first + t < blocks) sums[first + t] = carry + part[t] - own;
    carry += part[1023];
    __syncthreads();
  }
}

extern "C" __global__ void scan_blocks(const float* x, const float* sums, float* out, int64_t n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  float carry = sums[blockIdx.x];
  for (int stretch = 0; stretch < 4; ++stretch) {
    const int64_t i = int64_t{blockIdx.x} * 1024 + stretch * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
      const float left = t >= step ? part[t - step] : 0.0f;
      __syncthreads();
      part[t] += left;
      __syncthreads();
    }
    if (i < n) out[i] = carry + part[t];
    carry += part[255];
    __syncthreads();
  }
}
