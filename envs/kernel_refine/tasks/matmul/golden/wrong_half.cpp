// expect: wrong
// Rounds both inputs to bfloat16, as a tensor core would.
#include <cstdint>
#include <cstring>

static inline float to_bf16(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  bits = (bits + 0x8000u) & 0xffff0000u;
  std::memcpy(&v, &bits, 4);
  return v;
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t p = 0; p < k; ++p) {
      const float scale = to_bf16(a[i * k + p]);
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += scale * to_bf16(b[p * n + j]);
    }
  }
}
