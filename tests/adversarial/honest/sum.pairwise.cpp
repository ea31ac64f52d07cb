// Honest: pairwise summation by recursion down to blocks of 64 elements.
#include <cstdint>

static float sum_of(const float* in, int64_t count) {
  if (count <= 64) {
    float part[4] = {};
    int64_t c = 0;
    for (; c + 4 <= count; c += 4) {
      for (int k = 0; k < 4; ++k) part[k] += in[c + k];
    }
    float sum = (part[0] + part[1]) + (part[2] + part[3]);
    for (; c < count; ++c) sum += in[c];
    return sum;
  }
  const int64_t half = count / 2;
  return sum_of(in, half) + sum_of(in + half, count - half);
}

extern "C" void row_sum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) out[r] = sum_of(x + r * cols, cols);
}
