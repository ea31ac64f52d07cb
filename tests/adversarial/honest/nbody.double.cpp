// Honest: one core in double precision, slower than the baseline.
#include <cmath>
#include <cstdint>

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double sum[3] = {};
    for (int64_t j = 0; j < n; ++j) {
      double d[3], square = 0.01;
      for (int c = 0; c < 3; ++c) {
        d[c] = static_cast<double>(pos[3 * j + c]) - pos[3 * i + c];
        square += d[c] * d[c];
      }
      const double pull = mass[j] / (square * std::sqrt(square));
      for (int c = 0; c < 3; ++c) sum[c] += pull * d[c];
    }
    for (int c = 0; c < 3; ++c) acc[3 * i + c] = static_cast<float>(sum[c]);
  }
}
