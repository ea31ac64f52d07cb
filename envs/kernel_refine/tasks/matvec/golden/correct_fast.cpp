// expect: correct speedup>1
// Two rows at a time with two vector accumulators each, so that x is loaded half as often.
#include <cstdint>

typedef float f16 __attribute__((vector_size(64), aligned(4)));

static inline f16 load(const float* p) { return *reinterpret_cast<const f16*>(p); }

static float total(f16 v) {
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += v[k];
  return sum;
}

static void two_rows(const float* a, const float* b, const float* x, float* y, int64_t cols) {
  f16 a0 = {}, a1 = {}, b0 = {}, b1 = {};
  int64_t c = 0;
  for (; c + 32 <= cols; c += 32) {
    const f16 low = load(x + c), high = load(x + c + 16);
    a0 += load(a + c) * low;
    a1 += load(a + c + 16) * high;
    b0 += load(b + c) * low;
    b1 += load(b + c + 16) * high;
  }
  float sum_a = total(a0 + a1), sum_b = total(b0 + b1);
  for (; c < cols; ++c) {
    sum_a += a[c] * x[c];
    sum_b += b[c] * x[c];
  }
  y[0] = sum_a;
  y[1] = sum_b;
}

extern "C" void matvec(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  int64_t r = 0;
  for (; r + 2 <= rows; r += 2) two_rows(a + r * cols, a + (r + 1) * cols, x, y + r, cols);
  for (; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += a[r * cols + c] * x[c];
    y[r] = sum;
  }
}
