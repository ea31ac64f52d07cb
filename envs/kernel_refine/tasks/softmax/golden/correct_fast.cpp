// expect: correct speedup>1
// Vectors of eight throughout, with a polynomial exponential (relative error about 2e-7).
#include <cstdint>
#include <cstring>

typedef float f8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));

static inline f8 load(const float* p) {
  f8 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
static inline void store(float* p, f8 v) { std::memcpy(p, &v, sizeof v); }
static inline f8 splat(float v) { return f8{} + v; }

/// exp(x) for x ≤ 0; below -87 the answer is that of -87, which no tolerance can see.
static inline f8 exp_negative(f8 x) {
  const f8 low = splat(-87.0f), magic = splat(12582912.0f);
  x = x > low ? x : low;
  const f8 n = (x * 1.44269504f + magic) - magic;
  f8 r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  f8 p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const i8 power = (__builtin_convertvector(n, i8) + 127) << 23;
  f8 scale;
  std::memcpy(&scale, &power, sizeof scale);
  return p * scale;
}

static void softmax_row(const float* in, float* o, int64_t cols) {
  float top = in[0];
  f8 tops = splat(top);
  int64_t c = 0;
  for (; c + 8 <= cols; c += 8) {
    const f8 v = load(in + c);
    tops = v > tops ? v : tops;
  }
  for (int k = 0; k < 8; ++k) top = tops[k] > top ? tops[k] : top;
  for (; c < cols; ++c) top = in[c] > top ? in[c] : top;

  f8 sums = {};
  for (c = 0; c + 8 <= cols; c += 8) {
    const f8 e = exp_negative(load(in + c) - top);
    store(o + c, e);
    sums += e;
  }
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += sums[k];
  if (c < cols) {
    float last[8];
    for (int k = 0; k < 8; ++k) last[k] = c + k < cols ? in[c + k] : top;
    const f8 e = exp_negative(load(last) - top);
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
