// The answers for nbody: all pairs, in order.
#include <cmath>
#include <cstdint>

namespace {

template <typename T>
void nbody_as(const float* pos, const float* mass, T* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T sum[3] = {0, 0, 0};
    for (int64_t j = 0; j < n; ++j) {
      const T dx = static_cast<T>(pos[3 * j]) - static_cast<T>(pos[3 * i]);
      const T dy = static_cast<T>(pos[3 * j + 1]) - static_cast<T>(pos[3 * i + 1]);
      const T dz = static_cast<T>(pos[3 * j + 2]) - static_cast<T>(pos[3 * i + 2]);
      const T square = dx * dx + dy * dy + dz * dz + static_cast<T>(0.01);
      const T pull = static_cast<T>(mass[j]) / (square * std::sqrt(square));
      sum[0] += pull * dx;
      sum[1] += pull * dy;
      sum[2] += pull * dz;
    }
    for (int c = 0; c < 3; ++c) acc[3 * i + c] = sum[c];
  }
}

}  // namespace

extern "C" void reference(const float* pos, const float* mass, float* acc, int64_t n) {
  nbody_as<float>(pos, mass, acc, n);
}

extern "C" void exact(const float* pos, const float* mass, double* acc, int64_t n) {
  nbody_as<double>(pos, mass, acc, n);
}
