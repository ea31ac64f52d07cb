// expect: wrong
// Of equal values it takes the last.
#include <cstdint>

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    int64_t best = 0;
    for (int64_t c = 1; c < cols; ++c) {
      if (x[r * cols + c] >= x[r * cols + best]) best = c;
    }
    out[r] = static_cast<int32_t>(best);
  }
}
