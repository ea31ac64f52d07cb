// expect: correct speedup>1
// Scans eight elements in a register with three shifted additions; only the carry is a chain.
#include <cstdint>

typedef float f8 __attribute__((vector_size(32), aligned(4)));
typedef int32_t i8 __attribute__((vector_size(32)));

#if defined(__clang__)
#define SHIFT(v, a, b, c, d, e, f, g, h) __builtin_shufflevector(zero, v, a, b, c, d, e, f, g, h)
#else
#define SHIFT(v, a, b, c, d, e, f, g, h) __builtin_shuffle(zero, v, i8{a, b, c, d, e, f, g, h})
#endif

extern "C" void prefix_sum(const float* x, float* out, int64_t n) {
  typedef float v8 __attribute__((vector_size(32)));
  const v8 zero = {};
  float carry = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    v8 v = *reinterpret_cast<const f8*>(x + i);
    v += SHIFT(v, 0, 8, 9, 10, 11, 12, 13, 14);
    v += SHIFT(v, 0, 1, 8, 9, 10, 11, 12, 13);
    v += SHIFT(v, 0, 1, 2, 3, 8, 9, 10, 11);
    *reinterpret_cast<f8*>(out + i) = v + carry;
    carry += v[7];
  }
  for (; i < n; ++i) out[i] = carry += x[i];
}
