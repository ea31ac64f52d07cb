// Honest: a copy of the baseline.
#include <cmath>
#include <cstdint>

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float ax = 0, ay = 0, az = 0;
    for (int64_t j = 0; j < n; ++j) {
      const float dx = pos[3 * j] - pos[3 * i];
      const float dy = pos[3 * j + 1] - pos[3 * i + 1];
      const float dz = pos[3 * j + 2] - pos[3 * i + 2];
      const float square = dx * dx + dy * dy + dz * dz + 0.01f;
      const float pull = mass[j] / (square * std::sqrt(square));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    acc[3 * i] = ax;
    acc[3 * i + 1] = ay;
    acc[3 * i + 2] = az;
  }
}
