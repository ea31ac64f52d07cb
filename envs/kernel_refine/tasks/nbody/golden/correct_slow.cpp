// expect: correct speedup<1
// Right, but with std::pow in double precision.
#include <cmath>
#include <cstdint>

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double sum[3] = {};
    for (int64_t j = 0; j < n; ++j) {
      double d[3], square = 0.01;
      for (int c = 0; c < 3; ++c) {
        d[c] = double{pos[3 * j + c]} - pos[3 * i + c];
        square += d[c] * d[c];
      }
      for (int c = 0; c < 3; ++c) sum[c] += mass[j] * d[c] * std::pow(square, -1.5);
    }
    for (int c = 0; c < 3; ++c) acc[3 * i + c] = static_cast<float>(sum[c]);
  }
}
