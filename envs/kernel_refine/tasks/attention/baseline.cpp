// What is timed against for attention: scores, softmax, weighted sum, with a row of scores as the only temporary.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  std::vector<float> score(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    float top = -INFINITY;
    for (int64_t j = 0; j <= i; ++j) {
      float dot = 0;
      for (int64_t c = 0; c < d; ++c) dot += q[i * d + c] * k[j * d + c];
      score[j] = dot * scale;
      top = score[j] > top ? score[j] : top;
    }
    float sum = 0;
    for (int64_t j = 0; j <= i; ++j) {
      score[j] = expf(score[j] - top);
      sum += score[j];
    }
    for (int64_t c = 0; c < d; ++c) out[i * d + c] = 0;
    for (int64_t j = 0; j <= i; ++j) {
      const float weight = score[j] / sum;
      for (int64_t c = 0; c < d; ++c) out[i * d + c] += weight * v[j * d + c];
    }
  }
}
