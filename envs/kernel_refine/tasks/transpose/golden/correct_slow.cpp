// expect: correct speedup<1
// Right, but visits the elements in an order that defeats both cache and prefetcher, dividing for each.
#include <cstdint>

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  const int64_t total = rows * cols;
  constexpr int64_t kStride = 4099;  // coprime to the total below, or else the plain order
  const bool scattered = total % kStride != 0;
  int64_t at = 0;
  for (int64_t i = 0; i < total; ++i) {
    const int64_t place = scattered ? at : i;
    out[place % cols * rows + place / cols] = x[place];
    at = (at + kStride) % total;
  }
}
