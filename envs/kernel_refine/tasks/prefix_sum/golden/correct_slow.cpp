// expect: correct speedup<1
// Right, but the running sum is read back from memory for every element and compensated after Kahan.
#include <cstdint>

extern "C" void prefix_sum(const float* x, float* out, int64_t n) {
  volatile float lost = 0;
  out[0] = x[0];
  for (int64_t i = 1; i < n; ++i) {
    const float y = x[i] - lost;
    const float t = out[i - 1] + y;
    lost = (t - out[i - 1]) - y;
    out[i] = t;
  }
}
