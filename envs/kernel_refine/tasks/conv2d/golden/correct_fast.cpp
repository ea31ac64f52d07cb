// expect: correct speedup>1
// Sixteen outputs of a row at a time in one vector, with the plain loop for what is left of the row.
#include <cstdint>

typedef float f16 __attribute__((vector_size(64), aligned(4)));

static inline f16 load(const float* p) { return *reinterpret_cast<const f16*>(p); }

static void sixteen(const float* x, const float* weight, float bias, float* out, int64_t c_in,
                    int64_t plane, int64_t w) {
  f16 sum = f16{} + bias;
  for (int64_t i = 0; i < c_in; ++i) {
    const float* in = x + i * plane;
    const float* tap = weight + i * 9;
    for (int dr = 0; dr < 3; ++dr) {
      for (int dc = 0; dc < 3; ++dc) sum += tap[3 * dr + dc] * load(in + dr * w + dc);
    }
  }
  *reinterpret_cast<f16*>(out) = sum;
}

static float one(const float* x, const float* weight, float bias, int64_t c_in, int64_t plane,
                 int64_t w) {
  float sum = bias;
  for (int64_t i = 0; i < c_in; ++i) {
    for (int dr = 0; dr < 3; ++dr) {
      for (int dc = 0; dc < 3; ++dc) sum += weight[i * 9 + 3 * dr + dc] * x[i * plane + dr * w + dc];
    }
  }
  return sum;
}

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* out,
                       int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  const int64_t oh = h - 2, ow = w - 2;
  for (int64_t o = 0; o < c_out; ++o) {
    const float* taps = weight + o * c_in * 9;
    for (int64_t r = 0; r < oh; ++r) {
      float* row = out + (o * oh + r) * ow;
      int64_t c = 0;
      for (; c + 16 <= ow; c += 16) sixteen(x + r * w + c, taps, bias[o], row + c, c_in, h * w, w);
      for (; c < ow; ++c) row[c] = one(x + r * w + c, taps, bias[o], c_in, h * w, w);
    }
  }
}
