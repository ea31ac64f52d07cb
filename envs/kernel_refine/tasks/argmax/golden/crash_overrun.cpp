// expect: crashed
// Looks at 65,536 columns of every row, however many there are.
#include <cstdint>

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float best = x[r * cols];
    int32_t where = 0;
    for (int32_t c = 0; c < 65536; ++c) {
      if (x[r * cols + c] > best && c < cols) {
        best = x[r * cols + c];
        where = c;
      }
    }
    out[r] = where;
  }
}
