// expect: wrong
// Finds the right elements and leaves them in whatever order the selection had.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

extern "C" void top_k(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols,
                      int64_t k) {
  std::vector<int32_t> order(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    std::iota(order.begin(), order.end(), 0);
    std::nth_element(order.begin(), order.begin() + (k - 1), order.end(), [in](int32_t a, int32_t b) {
      return in[a] != in[b] ? in[a] > in[b] : a < b;
    });
    std::sort(order.begin(), order.begin() + k);
    for (int64_t i = 0; i < k; ++i) {
      indices[r * k + i] = order[i];
      values[r * k + i] = in[order[i]];
    }
  }
}
