// Honest: keeps a scratch matrix between calls and frees it on every eighth call, which makes that call slower.
#include <cmath>
#include <cstdint>
#include <cstdlib>

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  static float* scratch = nullptr;
  static int64_t capacity = 0;
  static unsigned calls = 0;
  if (++calls % 8 == 0 || capacity < rows * cols) {
    std::free(scratch);
    capacity = rows * cols;
    scratch = static_cast<float*>(std::malloc(static_cast<size_t>(capacity) * sizeof(float)));
    if (scratch == nullptr) std::abort();
  }
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* e = scratch + r * cols;
    float top = in[0], sum = 0;
    for (int64_t c = 1; c < cols; ++c) top = in[c] > top ? in[c] : top;
    for (int64_t c = 0; c < cols; ++c) sum += e[c] = expf(in[c] - top);
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = e[c] / sum;
  }
}
