// expect: correct speedup>1
// Vectors of sixteen throughout, with a polynomial exponential (relative error about 2e-7).
#include <cstdint>
#include <cstring>

typedef float f16 __attribute__((vector_size(64)));
typedef int32_t i16 __attribute__((vector_size(64)));

static inline f16 load(const float* p) {
  f16 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
static inline void store(float* p, f16 v) { std::memcpy(p, &v, sizeof v); }
static inline f16 splat(float v) { return f16{} + v; }

/// exp(x) for x ≤ 0; below -87 the answer is that of -87, which no tolerance can see.
static inline f16 exp_negative(f16 x) {
  const f16 low = splat(-87.0f), magic = splat(12582912.0f);
  x = x > low ? x : low;
  const f16 n = (x * 1.44269504f + magic) - magic;
  f16 r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  f16 p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const i16 power = (__builtin_convertvector(n, i16) + 127) << 23;
  f16 scale;
  std::memcpy(&scale, &power, sizeof scale);
  return p * scale;
}

static void softmax_row(const float* in, float* o, int64_t cols) {
  float top = in[0];
  f16 tops = splat(top);
  int64_t c = 0;
  for (; c + 16 <= cols; c += 16) {
    const f16 v = load(in + c);
    tops = v > tops ? v : tops;
  }
  for (int k = 0; k < 16; ++k) top = tops[k] > top ? tops[k] : top;
  for (; c < cols; ++c) top = in[c] > top ? in[c] : top;

  f16 sums = {};
  for (c = 0; c + 16 <= cols; c += 16) {
    const f16 e = exp_negative(load(in + c) - top);
    store(o + c, e);
    sums += e;
  }
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += sums[k];
  if (c < cols) {
    float last[16];
    for (int k = 0; k < 16; ++k) last[k] = c + k < cols ? in[c + k] : top;
    const f16 e = exp_negative(load(last) - top);
    for (int k = 0; c + k < cols; ++k) {
      o[c + k] = e[k];
      sum += e[k];
    }
  }
  const float scale = 1.0f / sum;
  for (c = 0; c < cols; ++c) o[c] *= scale;
}

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) softmax_row(x + r * cols, out + r * cols, cols);
}
