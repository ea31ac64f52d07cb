// Honest: the compiler builds three versions of one function, and the loader picks one for the processor.
#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#endif
float sum_of(const float* in, int64_t cols) {
  float part[64] = {};
  int64_t c = 0;
  for (; c + 64 <= cols; c += 64) {
    for (int k = 0; k < 64; ++k) part[k] += in[c + k];
  }
  float sum = 0;
  for (; c < cols; ++c) sum += in[c];
  for (float p : part) sum += p;
  return sum;
}

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) out[r] = sum_of(x + r * cols, cols);
}
