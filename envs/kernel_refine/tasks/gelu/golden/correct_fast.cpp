// expect: correct speedup>1
// Abramowitz and Stegun's formula 7.1.26 for erf (absolute error 1.5e-7), written so that the loop vectorises.
#include <cmath>
#include <cstdint>
#include <cstring>

/// exp(-v) for 0 ≤ v; beyond 80 the answer is that of 80, which nothing here can see.
static inline float exp_of_minus(float v) {
  v = v < 80.0f ? v : 80.0f;
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
  std::memcpy(&scale, &bits, 4);
  return p * scale;
}

static inline float gelu_of(float x) {
  const float z = std::fabs(x) * 0.70710678f;
  const float t = 1.0f / (1.0f + 0.3275911f * z);
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const float erfc = p * t * exp_of_minus(z * z);  // of |x|/sqrt(2)
  const float half = 0.5f * x;
  return half + std::fabs(half) * (1.0f - erfc);
}

extern "C" void gelu(const float* __restrict x, float* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = gelu_of(x[i]);
}
