// Honest: sums and squares in one pass in double precision, with eight accumulators of each.
#include <cmath>
#include <cstdint>

extern "C" void layer_norm(const float* __restrict x, const float* __restrict gamma,
                           const float* __restrict beta, float* __restrict out, int64_t rows,
                           int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    double sums[8] = {}, squares[8] = {}, sum = 0, square = 0;
    int64_t c = 0;
    for (; c + 8 <= cols; c += 8) {
      for (int k = 0; k < 8; ++k) {
        const double v = in[c + k];
        sums[k] += v;
        squares[k] += v * v;
      }
    }
    for (; c < cols; ++c) {
      sum += in[c];
      square += static_cast<double>(in[c]) * in[c];
    }
    for (int k = 0; k < 8; ++k) {
      sum += sums[k];
      square += squares[k];
    }
    const double mean = sum / static_cast<double>(cols);
    const double spread = square / static_cast<double>(cols) - mean * mean;
    const double variance = spread > 0 ? spread : 0;
    const double scale = 1.0 / std::sqrt(variance + 1e-5);
    const float s = static_cast<float>(scale), m = static_cast<float>(mean);
    for (c = 0; c < cols; ++c) out[r * cols + c] = (in[c] - m) * s * gamma[c] + beta[c];
  }
}
