// expect: correct speedup<1
// Right, but takes a square root and divides for every element, in double precision.
#include <cmath>
#include <cstdint>

extern "C" void rms_norm(const float* x, const float* weight, float* out, int64_t rows,
                         int64_t cols, float eps) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    volatile double squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares = squares + double{in[c]} * in[c];
    for (int64_t c = 0; c < cols; ++c) {
      const double root = std::sqrt(squares / static_cast<double>(cols) + eps);
      out[r * cols + c] = static_cast<float>(in[c] / root * weight[c]);
    }
  }
}
