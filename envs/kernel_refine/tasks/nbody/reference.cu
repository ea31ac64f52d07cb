// The answers for nbody: a body per thread, all others in order.
// hone: plan reference
// hone: launch nbody_as<float> grid = ceil_div(n, 64) block = 64
// hone: plan exact
// hone: launch nbody_as<double> grid = ceil_div(n, 64) block = 64
#include <cstdint>

template <typename T>
__global__ void nbody_as(const float* pos, const float* mass, T* acc, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = pos[3 * i], y = pos[3 * i + 1], z = pos[3 * i + 2];
  T ax = 0, ay = 0, az = 0;
  for (int64_t j = 0; j < n; ++j) {
    const T dx = static_cast<T>(pos[3 * j]) - x, dy = static_cast<T>(pos[3 * j + 1]) - y;
    const T dz = static_cast<T>(pos[3 * j + 2]) - z;
    const T square = dx * dx + dy * dy + dz * dz + static_cast<T>(0.01);
    const T pull = static_cast<T>(mass[j]) / (square * sqrt(square));
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  acc[3 * i] = ax;
  acc[3 * i + 1] = ay;
  acc[3 * i + 2] = az;
}
