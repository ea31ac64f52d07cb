// expect: wrong
// Starts from zero, so a row of negative values has no maximum.
#include <cstdint>

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float best = 0;
    int32_t where = 0;
    for (int64_t c = 0; c < cols; ++c) {
      if (x[r * cols + c] > best) {
        best = x[r * cols + c];
        where = static_cast<int32_t>(c);
      }
    }
    out[r] = where;
  }
}
