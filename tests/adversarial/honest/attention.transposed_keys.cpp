// Honest: transposes the keys once into static scratch, so that scores of a row are sums of vectors.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  static std::vector<float> keys, scores;
  keys.resize(static_cast<size_t>(n * d));
  scores.resize(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t c = 0; c < d; ++c) keys[c * n + j] = k[j * d + c];
  }
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  for (int64_t i = 0; i < n; ++i) {
    float* __restrict score = scores.data();
    const int64_t seen = i + 1;
    for (int64_t j = 0; j < seen; ++j) score[j] = 0;
    for (int64_t c = 0; c < d; ++c) {
      const float w = q[i * d + c] * scale;
      const float* row = &keys[c * n];
      for (int64_t j = 0; j < seen; ++j) score[j] += w * row[j];
    }
    float top = score[0], sum = 0;
    for (int64_t j = 1; j < seen; ++j) top = score[j] > top ? score[j] : top;
    float* __restrict to = out + i * d;
    for (int64_t c = 0; c < d; ++c) to[c] = 0;
    for (int64_t j = 0; j < seen; ++j) {
      const float weight = expf(score[j] - top);
      sum += weight;
      for (int64_t c = 0; c < d; ++c) to[c] += weight * v[j * d + c];
    }
    const float inverse = 1.0f / sum;
    for (int64_t c = 0; c < d; ++c) to[c] *= inverse;
  }
}
