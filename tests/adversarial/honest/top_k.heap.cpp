// Honest: keeps the best k in a priority queue and empties it from the worst to the best.
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

extern "C" void top_k(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols,
                      int64_t k) {
  using Entry =
      std::pair<float, int64_t>;  // value and minus the column, so that a lower column wins
  for (int64_t r = 0; r < rows; ++r) {
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (int64_t c = 0; c < cols; ++c) {
      const Entry entry{x[r * cols + c], -c};
      if (static_cast<int64_t>(queue.size()) == k) {
        if (entry < queue.top()) continue;
        queue.pop();
      }
      queue.push(entry);
    }
    for (int64_t i = k - 1; i >= 0; --i) {
      values[r * k + i] = queue.top().first;
      indices[r * k + i] = static_cast<int32_t>(-queue.top().second);
      queue.pop();
    }
  }
}
