// expect: crashed
// Keeps the scores in an array that is sized for one shape, and reads keys up to that size.
#include <cmath>
#include <cstdint>

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  constexpr int64_t kRows = 4096;
  static float score[kRows];
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  for (int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kRows; ++j) {
      float dot = 0;
      for (int64_t c = 0; c < d; ++c) dot += q[i * d + c] * k[j * d + c];
      score[j] = j <= i ? expf(dot * scale) : 0;
      sum += score[j];
    }
    for (int64_t c = 0; c < d; ++c) {
      float total = 0;
      for (int64_t j = 0; j < kRows; ++j) total += score[j] * v[j * d + c];
      out[i * d + c] = total / sum;
    }
  }
}
