// Honest: sums blocks of 4096 in double precision first, then scans each block from its start in a second pass.
#include <cstdint>

extern "C" void prefix_sum(const float* x, float* out, int64_t n) {
  constexpr int64_t kBlock = 4096;
  double start = 0;
  for (int64_t from = 0; from < n; from += kBlock) {
    const int64_t to = from + kBlock < n ? from + kBlock : n;
    double part[16] = {};
    int64_t i = from;
    for (; i + 16 <= to; i += 16) {
      for (int k = 0; k < 16; ++k) part[k] += x[i + k];
    }
    float sum = static_cast<float>(start);
    for (int64_t j = from; j < to; ++j) {
      sum += x[j];
      out[j] = sum;
    }
    for (; i < to; ++i) start += x[i];
    for (const double p : part) start += p;
  }
}
