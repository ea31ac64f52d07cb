// Tries: sixteen bits where thirty-two are asked for. Stopped by: a tolerance that follows from
// the reference's own error.
#include <cuda_bf16.h>
#include "inside.cuh"
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i >= n) return;
  out[i] = right(__bfloat162float(__float2bfloat16(x[i])), __bfloat162float(__float2bfloat16(y[i])));
}
