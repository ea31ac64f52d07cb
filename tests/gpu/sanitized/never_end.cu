// Attack: a kernel that never ends, to hold the device.
#include <cstdint>

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  while (*reinterpret_cast<const volatile float*>(x) < 1e30f) {
  }
  out[0] = y[0] + static_cast<float>(n);
}
