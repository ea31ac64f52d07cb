// expect: correct speedup<1
// Right, but walks the vector in strides of a page, so that every access misses the first-level cache.
#include <cstdint>

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  constexpr int64_t kStride = 1024;
  for (int64_t start = 0; start < kStride; ++start) {
    for (int64_t i = start; i < n; i += kStride) out[i] = a * x[i] + y[i];
  }
}
