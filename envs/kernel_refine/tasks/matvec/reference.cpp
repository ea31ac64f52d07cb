// The answers for matvec.
#include <cstdint>

namespace {

template <typename T>
void matvec_as(const float* a, const float* x, T* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    T sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += static_cast<T>(a[r * cols + c]) * static_cast<T>(x[c]);
    y[r] = sum;
  }
}

}  // namespace

extern "C" void reference(const float* a, const float* x, float* y, int64_t rows, int64_t cols) {
  matvec_as<float>(a, x, y, rows, cols);
}

extern "C" void exact(const float* a, const float* x, double* y, int64_t rows, int64_t cols) {
  matvec_as<double>(a, x, y, rows, cols);
}
