// expect: wrong
// Strides the output by the wrong extent, which only a square matrix forgives.
#include <cstdint>

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) out[(c * cols + r) % (rows * cols)] = x[r * cols + c];
  }
}
