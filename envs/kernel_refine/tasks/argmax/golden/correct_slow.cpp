// expect: correct speedup<1
// Right, but sorts a heap of pairs for every row.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

extern "C" void argmax(const float* x, int32_t* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<std::pair<float, int64_t>> heap;
    for (int64_t c = 0; c < cols; ++c) heap.emplace_back(x[r * cols + c], -c);
    std::make_heap(heap.begin(), heap.end());
    out[r] = static_cast<int32_t>(-heap.front().second);
  }
}
