// expect: correct speedup>1
// One pass that the compiler turns into fused multiply-adds.
#include <cstdint>

extern "C" void saxpy(int64_t n, float a, const float* __restrict x, const float* __restrict y,
                      float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}
