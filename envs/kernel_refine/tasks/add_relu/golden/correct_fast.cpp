// expect: correct speedup>1
// One pass in vectors of eight, with a scalar tail.
#include <cstdint>

typedef float f8 __attribute__((vector_size(32), aligned(4)));

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const f8 zero = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const f8 v = *reinterpret_cast<const f8*>(x + i) + *reinterpret_cast<const f8*>(y + i);
    *reinterpret_cast<f8*>(out + i) = v > zero ? v : zero;
  }
  for (; i < n; ++i) {
    const float v = x[i] + y[i];
    out[i] = v > 0 ? v : 0;
  }
}
