// Tries: sixteen bits where thirty-two are asked for. Stopped by: a tolerance that follows from the
// reference's own error.
#include <stdint.h>
#include <string.h>
static float shorten(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  bits = (bits + 0x8000u) & 0xffff0000u;
  memcpy(&x, &bits, 4);
  return x;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float s = shorten(x[i]) + shorten(y[i]);
    out[i] = s > 0 ? s : 0;
  }
}
