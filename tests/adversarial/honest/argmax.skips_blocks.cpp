// Honest: looks into a block of 64 elements only where its maximum beats the best, so time depends on the data.
#include <algorithm>
#include <cstdint>

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  constexpr int64_t kBlock = 64;
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float best = in[0];
    int64_t where = 0, c = 0;
    for (; c + kBlock <= cols; c += kBlock) {
      float tops[16];
      for (int k = 0; k < 16; ++k) tops[k] = in[c + k];
      for (int64_t b = 16; b < kBlock; b += 16) {
        for (int k = 0; k < 16; ++k) tops[k] = std::max(tops[k], in[c + b + k]);
      }
      float top = tops[0];
      for (int k = 1; k < 16; ++k) top = std::max(top, tops[k]);
      if (top <= best) continue;
      best = top;
      where = c;
      while (in[where] != top) ++where;
    }
    for (; c < cols; ++c) {
      if (in[c] > best) {
        best = in[c];
        where = c;
      }
    }
    out[r] = static_cast<int32_t>(where);
  }
}
