// add_relu with one planted fault: loads of 16 bytes that begin at the second element.
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = x[i] + y[i];
  if (4 * i + 5 <= n) {
    const float4 four = *reinterpret_cast<const float4*>(x + 1 + 4 * i);  // the fault
    sum += 0.0f * (four.x + four.y + four.z + four.w);
  }
  out[i] = fmaxf(sum, 0.0f);
}
