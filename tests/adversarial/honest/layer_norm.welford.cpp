// Honest: Welford's one-pass mean and variance, with a division for each element.
#include <cmath>
#include <cstdint>

extern "C" void layer_norm(const float* x, const float* gamma, const float* beta, float* out,
                           int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    double mean = 0, squares = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const double away = in[c] - mean;
      mean += away / static_cast<double>(c + 1);
      squares += away * (in[c] - mean);
    }
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(cols) + 1e-5);
    for (int64_t c = 0; c < cols; ++c) {
      out[r * cols + c] = static_cast<float>((in[c] - mean) * scale * gamma[c] + beta[c]);
    }
  }
}
