// Honest: interpolates in a table of 12289 values that the first call allocates and fills.
#include <cmath>
#include <cstdint>
#include <vector>

constexpr float kLimit = 6.0f, kPerUnit = 1024.0f;

static const std::vector<float>& table() {
  static const std::vector<float> values = [] {
    std::vector<float> filled(static_cast<size_t>(2 * kLimit * kPerUnit) + 2);
    for (size_t i = 0; i < filled.size(); ++i) {
      const double v = static_cast<double>(i) / kPerUnit - kLimit;
      filled[i] = static_cast<float>(0.5 * std::erfc(-v / std::sqrt(2.0)));
    }
    return filled;
  }();
  return values;
}

extern "C" void gelu(const float* x, float* out, int64_t n) {
  const float* values = table().data();
  for (int64_t i = 0; i < n; ++i) {
    float v = x[i] > -kLimit ? x[i] : -kLimit;
    v = v < kLimit ? v : kLimit;
    const float place = (v + kLimit) * kPerUnit;
    const int32_t at = static_cast<int32_t>(place);
    const float part = place - static_cast<float>(at);
    const float phi = values[at] + part * (values[at + 1] - values[at]);
    out[i] = x[i] >= kLimit ? x[i] : x[i] <= -kLimit ? 0.0f : x[i] * phi;
  }
}
