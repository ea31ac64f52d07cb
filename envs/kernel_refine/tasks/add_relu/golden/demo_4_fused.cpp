// expect: correct speedup>1
// One pass over memory: the sum never leaves the register.
#include <cstdint>

extern "C" void add_relu(const float* __restrict x, const float* __restrict y, float* __restrict out,
                         int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i] + y[i];
    out[i] = v > 0 ? v : 0;
  }
}
