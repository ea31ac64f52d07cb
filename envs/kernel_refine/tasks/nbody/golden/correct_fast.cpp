// expect: correct speedup>1
// Coordinates in arrays of their own, sixteen bodies i at a time, and half the bodies on a second thread.
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

constexpr int kLanes = 16;

static void some(const float* pos, const float* mass, float* acc, int64_t n, int64_t from, int64_t to) {
  for (int64_t i0 = from; i0 < to; i0 += kLanes) {
    float x[kLanes], y[kLanes], z[kLanes], ax[kLanes] = {}, ay[kLanes] = {}, az[kLanes] = {};
    for (int k = 0; k < kLanes; ++k) {
      const int64_t i = i0 + k < to ? i0 + k : to - 1;
      x[k] = pos[3 * i];
      y[k] = pos[3 * i + 1];
      z[k] = pos[3 * i + 2];
    }
    for (int64_t j = 0; j < n; ++j) {
      const float xj = pos[3 * j], yj = pos[3 * j + 1], zj = pos[3 * j + 2], m = mass[j];
      for (int k = 0; k < kLanes; ++k) {
        const float dx = xj - x[k], dy = yj - y[k], dz = zj - z[k];
        const float square = dx * dx + dy * dy + dz * dz + 0.01f;
        const float pull = m / (square * __builtin_sqrtf(square));
        ax[k] += pull * dx;
        ay[k] += pull * dy;
        az[k] += pull * dz;
      }
    }
    for (int k = 0; k < kLanes && i0 + k < to; ++k) {
      acc[3 * (i0 + k)] = ax[k];
      acc[3 * (i0 + k) + 1] = ay[k];
      acc[3 * (i0 + k) + 2] = az[k];
    }
  }
}

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  if (n < 256) {
    some(pos, mass, acc, n, 0, n);
    return;
  }
  const int64_t half = n / 2 / kLanes * kLanes;
  std::thread other([=] { some(pos, mass, acc, n, half, n); });
  some(pos, mass, acc, n, 0, half);
  other.join();
}
