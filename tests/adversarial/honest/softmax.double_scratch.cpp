// Honest: computes each row in double precision in a thread-local vector.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  thread_local std::vector<double> scratch;
  scratch.resize(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    const double top = *std::max_element(in, in + cols);
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += scratch[c] = std::exp(in[c] - top);
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = static_cast<float>(scratch[c] / sum);
  }
}
