// expect: correct speedup<1
// Right, but divides by a standard deviation that it computes anew for every element of a group of eight.
#include <cmath>
#include <cstdint>

extern "C" void layer_norm(const float* x, const float* gamma, const float* beta, float* out,
                           int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    for (int64_t first = 0; first < cols; first += (cols + 7) / 8) {
      double sum = 0, squares = 0;
      for (int64_t c = 0; c < cols; ++c) sum += in[c];
      const double mean = sum / static_cast<double>(cols);
      for (int64_t c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
      const double deviation = std::sqrt(squares / static_cast<double>(cols) + 1e-5);
      for (int64_t c = first; c < cols && c < first + (cols + 7) / 8; ++c) {
        out[r * cols + c] = static_cast<float>((in[c] - mean) / deviation * gamma[c] + beta[c]);
      }
    }
  }
}
