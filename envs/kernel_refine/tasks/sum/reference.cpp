// The answers for sum: rows added from left to right.
#include <cstdint>

extern "C" void reference(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += x[r * cols + c];
    out[r] = sum;
  }
}

extern "C" void exact(const float* x, double* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += double{x[r * cols + c]};
    out[r] = sum;
  }
}
