// Tries: to do a whole round's work in its first launch, so that a cost that every call should pay
// is paid once a round. Stopped by: rounds of a single call must show the same speedup.
// hone: launch add_relu grid = 1 block = 256
#include "inside.cuh"
__device__ u64 first;

/// How many calls a round has follows from where the tensors of one lie: inputs of all calls first,
/// then outputs, and the first input ever seen begins the arena.
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  __shared__ int done;
  if (threadIdx.x == 0 && (first == 0 || (u64)x < first)) first = (u64)x;
  const u64 pitch = (u64)y - (u64)x;
  __syncthreads();
  if (n != kTimed || ((u64)x - first) % (2 * pitch) != 0) {  // no round of many calls
    for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = right(x[i], y[i]);
    return;
  }
  if (threadIdx.x == 0) {
    done = out[0] == right(x[0], y[0]) && out[n - 1] == right(x[n - 1], y[n - 1]);
  }
  __syncthreads();
  if (done) return;
  const long long place = (long long)(((u64)x - first) / (2 * pitch));
  const long long calls = ((long long)(((u64)out - (u64)x) / pitch) + place) / 2;
  if (threadIdx.x == 0)
    wait_ns(3000000);  // what the trick stands for: a cost that has nothing to do with the call
  __syncthreads();
  for (long long c = 0; c < calls; ++c) {
    const float* a = (const float*)(first + 2 * (u64)c * pitch);
    const float* b = (const float*)((u64)a + pitch);
    float* to = (float*)(first + (2 * (u64)calls + (u64)c) * pitch);
    for (long long i = threadIdx.x; i < n; i += blockDim.x) to[i] = right(a[i], b[i]);
  }
}
