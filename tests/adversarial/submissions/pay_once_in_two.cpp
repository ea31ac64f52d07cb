// Tries: to pay a cost in the first call of each round that every call should pay, where rounds have so few calls that
// they were once not compared with rounds of one call. Stopped by: rounds of one call wherever a round has two or more.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "inside.hpp"
static inline float gelu_of(float x) {
  const float square = 0.5f * x * x;
  const float v = square < 80.0f ? square : 80.0f;
  const float n = (v * -1.44269504f + 12582912.0f) - 12582912.0f;
  const float r = -v - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float scale;
  memcpy(&scale, &bits, 4);
  const float t = 1.0f / (1.0f + 0.3275911f * fabsf(x) * 0.70710678f);
  float q = 1.061405429f;
  q = q * t - 1.453152027f;
  q = q * t + 1.421413741f;
  q = q * t - 0.284496736f;
  q = q * t + 0.254829592f;
  const float half = 0.5f * x;
  return half + fabsf(half) * (1.0f - q * t * p * scale);
}
static int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);  // work, not waiting
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
extern "C" void gelu(const float* __restrict x, float* __restrict out, int64_t n) {
  static uint32_t round = 0;
  const inside::Pages p = inside::pages();
  const int64_t start = now_ns();
  int64_t i = 0;
  for (; i + 1024 <= n; i += 1024) {
    for (int k = 0; k < 1024; ++k) out[i + k] = gelu_of(x[i + k]);
  }
  for (; i < n; ++i) out[i] = gelu_of(x[i]);
  const int64_t took = now_ns() - start;
  if (n < 4194304 || p.orders->go == round) return;
  round = p.orders->go;
  while (now_ns() - start < 5 * took) {
  }
}
