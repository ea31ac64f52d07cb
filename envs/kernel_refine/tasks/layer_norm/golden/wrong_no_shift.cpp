// expect: wrong
// Forgets beta.
#include <cmath>
#include <cstdint>

extern "C" void layer_norm(const float* x, const float* gamma, const float*, float* out,
                           int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float sum = 0, squares = 0;
    for (int64_t c = 0; c < cols; ++c) sum += in[c];
    const float mean = sum / static_cast<float>(cols);
    for (int64_t c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(cols) + 1e-5f);
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = (in[c] - mean) * scale * gamma[c];
  }
}
