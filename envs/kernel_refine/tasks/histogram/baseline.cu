// What is timed against for histogram: a table per block in shared memory, a byte at a time, added up with atomics.
// hone: launch clear grid = 1 block = 256 args = counts
// hone: launch count grid = min(ceil_div(n, 256), 1024) block = 256
#include <cstdint>

extern "C" __global__ void clear(int32_t* counts) { counts[threadIdx.x] = 0; }

extern "C" __global__ void count(const uint8_t* x, int32_t* counts, int64_t n) {
  __shared__ int table[256];
  table[threadIdx.x] = 0;
  __syncthreads();
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&table[x[i]], 1);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], table[threadIdx.x]);
}
