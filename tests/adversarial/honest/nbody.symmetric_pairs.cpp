// Honest: computes each pair once and applies equal and opposite forces, on one core.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  std::vector<double> sum(static_cast<size_t>(3 * n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) {
      const float dx = pos[3 * j] - pos[3 * i];
      const float dy = pos[3 * j + 1] - pos[3 * i + 1];
      const float dz = pos[3 * j + 2] - pos[3 * i + 2];
      const float square = dx * dx + dy * dy + dz * dz + 0.01f;
      const float inverse = 1.0f / (square * std::sqrt(square));
      const float d[3] = {dx * inverse, dy * inverse, dz * inverse};
      for (int c = 0; c < 3; ++c) {
        sum[3 * i + c] += mass[j] * d[c];
        sum[3 * j + c] -= mass[i] * d[c];
      }
    }
  }
  for (int64_t i = 0; i < 3 * n; ++i) acc[i] = static_cast<float>(sum[i]);
}
