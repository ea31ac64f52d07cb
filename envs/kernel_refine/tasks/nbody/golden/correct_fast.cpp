// expect: correct speedup>1
// Sixteen bodies at a time with a reciprocal root by Newton's method, and half the bodies on a second thread.
#include <cstdint>
#include <cstring>
#include <thread>

typedef float f16 __attribute__((vector_size(64)));
typedef int32_t i16 __attribute__((vector_size(64)));
constexpr int kLanes = 16;

/// 1/sqrt(v) for positive v: a first guess from the exponent, then three steps (relative error about 1e-7).
static inline f16 inverse_root(f16 v) {
  i16 bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits = 0x5f3759df - (bits >> 1);
  f16 y;
  std::memcpy(&y, &bits, sizeof y);
  const f16 half = v * 0.5f;
  for (int step = 0; step < 3; ++step) y = y * (1.5f - half * y * y);
  return y;
}

static void some(const float* pos, const float* mass, float* acc, int64_t n, int64_t from, int64_t to) {
  for (int64_t i0 = from; i0 < to; i0 += kLanes) {
    f16 x = {}, y = {}, z = {}, ax = {}, ay = {}, az = {};
    for (int k = 0; k < kLanes; ++k) {
      const int64_t i = i0 + k < to ? i0 + k : to - 1;
      x[k] = pos[3 * i];
      y[k] = pos[3 * i + 1];
      z[k] = pos[3 * i + 2];
    }
    for (int64_t j = 0; j < n; ++j) {
      const f16 dx = pos[3 * j] - x, dy = pos[3 * j + 1] - y, dz = pos[3 * j + 2] - z;
      const f16 inverse = inverse_root(dx * dx + dy * dy + dz * dz + 0.01f);
      const f16 pull = mass[j] * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
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
