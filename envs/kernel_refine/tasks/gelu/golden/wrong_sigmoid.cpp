// expect: wrong
// x * sigmoid(1.702 x), the quick variant, two percent off.
#include <cmath>
#include <cstdint>

extern "C" void gelu(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] / (1.0f + expf(-1.702f * x[i]));
}
