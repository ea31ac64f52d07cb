// expect: wrong
// Adds in half precision, which is not precise enough.
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = __half2float(__float2half(x[i] + y[i]));
  out[i] = v > 0 ? v : 0;
}
