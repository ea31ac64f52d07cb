// The answers for rms_norm.
#include <cmath>
#include <cstdint>

namespace {

template <typename T>
void rms_norm_as(const float* x, const float* weight, T* out, int64_t rows, int64_t cols, float eps) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    T squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += static_cast<T>(in[c]) * static_cast<T>(in[c]);
    const T scale = 1 / std::sqrt(squares / static_cast<T>(cols) + static_cast<T>(eps));
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = in[c] * scale * weight[c];
  }
}

}  // namespace

extern "C" void reference(const float* x, const float* weight, float* out, int64_t rows,
                          int64_t cols, float eps) {
  rms_norm_as<float>(x, weight, out, rows, cols, eps);
}

extern "C" void exact(const float* x, const float* weight, double* out, int64_t rows, int64_t cols,
                      float eps) {
  rms_norm_as<double>(x, weight, out, rows, cols, eps);
}
