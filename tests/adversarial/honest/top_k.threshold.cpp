// Honest: inserts only what beats the k-th best so far, so that its time depends on the order of the data.
#include <cstdint>

extern "C" void top_k(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols,
                      int64_t k) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* best = values + r * k;
    int32_t* where = indices + r * k;
    int64_t have = 0;
    for (int64_t c = 0; c < cols; ++c) {
      if (have == k && in[c] <= best[k - 1]) continue;
      int64_t at = have < k ? have++ : k - 1;
      for (; at > 0 && best[at - 1] < in[c]; --at) {
        best[at] = best[at - 1];
        where[at] = where[at - 1];
      }
      best[at] = in[c];
      where[at] = static_cast<int32_t>(c);
    }
  }
}
