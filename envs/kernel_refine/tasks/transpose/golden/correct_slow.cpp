// expect: correct speedup<1
// Right, but visits the elements in scattered order, dividing for each, and goes over them twice to be sure.
#include <cstdint>

extern "C" void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
  const int64_t total = rows * cols;
  constexpr int64_t kStride = 400009;  // a prime, or else the plain order
  const bool scattered = total % kStride != 0;
  for (int pass = 0; pass < 2; ++pass) {
    int64_t at = 0;
    for (int64_t i = 0; i < total; ++i) {
      const int64_t place = scattered ? at : i;
      static_cast<volatile float*>(out)[place % cols * rows + place / cols] = x[place];
      at = (at + kStride) % total;
    }
  }
}
