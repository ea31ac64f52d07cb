// expect: crashed
// Works in blocks of four million elements and never asks how many there are.
#include <cstdint>

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t) {
  constexpr int64_t kBlock = int64_t{1} << 22;
  for (int64_t i = 0; i < kBlock; ++i) {
    const float v = x[i] + y[i];
    out[i] = v > 0 ? v : 0;
  }
}
