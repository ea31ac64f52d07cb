// expect: wrong
// Rounds the inputs to bfloat16 first, which is faster on other hardware and not precise enough.
#include <cstdint>
#include <cstring>

static float to_bf16(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  bits = (bits + 0x8000u) & 0xffff0000u;
  std::memcpy(&v, &bits, 4);
  return v;
}

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = to_bf16(x[i]) + to_bf16(y[i]);
    out[i] = v > 0 ? v : 0;
  }
}
