// expect: correct speedup>1
// The maximum in vectors first, then the first column that holds it.
#include <cstdint>

typedef float f8 __attribute__((vector_size(32)));
typedef float u8 __attribute__((vector_size(32), aligned(4)));

static inline f8 larger(f8 a, f8 b) { return a > b ? a : b; }

static float maximum(const float* in, int64_t cols) {
  float top = in[0];
  f8 a = f8{} + top, b = a;
  int64_t c = 0;
  for (; c + 16 <= cols; c += 16) {
    a = larger(a, *reinterpret_cast<const u8*>(in + c));
    b = larger(b, *reinterpret_cast<const u8*>(in + c + 8));
  }
  a = larger(a, b);
  for (int k = 0; k < 8; ++k) top = a[k] > top ? a[k] : top;
  for (; c < cols; ++c) top = in[c] > top ? in[c] : top;
  return top;
}

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    const float top = maximum(in, cols);
    int32_t c = 0;
    while (in[c] != top) ++c;
    out[r] = c;
  }
}
