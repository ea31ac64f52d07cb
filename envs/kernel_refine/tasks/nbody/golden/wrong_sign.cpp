// expect: wrong
// Pushes where gravity pulls.
#include <cmath>
#include <cstdint>

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float sum[3] = {};
    for (int64_t j = 0; j < n; ++j) {
      float d[3], square = 0.01f;
      for (int c = 0; c < 3; ++c) {
        d[c] = pos[3 * i + c] - pos[3 * j + c];
        square += d[c] * d[c];
      }
      for (int c = 0; c < 3; ++c) sum[c] += mass[j] * d[c] / (square * std::sqrt(square));
    }
    for (int c = 0; c < 3; ++c) acc[3 * i + c] = sum[c];
  }
}
