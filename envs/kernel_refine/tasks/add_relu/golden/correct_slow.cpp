// expect: correct speedup<1
// Right, but one element at a time through a volatile, which keeps the compiler from using vectors.
#include <cstdint>

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    volatile float v = x[i] + y[i];
    volatile float clamped = v > 0 ? v : 0.0f;
    out[i] = clamped;
  }
}
