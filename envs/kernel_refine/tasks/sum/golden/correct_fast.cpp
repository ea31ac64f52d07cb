// expect: correct speedup>1
// Four vector accumulators per row break the chain of additions.
#include <cstdint>

typedef float f16 __attribute__((vector_size(64), aligned(4)));

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    f16 a = {}, b = {}, c = {}, d = {};
    int64_t i = 0;
    for (; i + 64 <= cols; i += 64) {
      a += *reinterpret_cast<const f16*>(row + i);
      b += *reinterpret_cast<const f16*>(row + i + 16);
      c += *reinterpret_cast<const f16*>(row + i + 32);
      d += *reinterpret_cast<const f16*>(row + i + 48);
    }
    const f16 all = (a + b) + (c + d);
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += all[k];
    for (; i < cols; ++i) sum += row[i];
    out[r] = sum;
  }
}
