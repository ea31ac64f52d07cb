// Honest: takes keys in blocks of 32 and rescales the partial result when the maximum grows, as flash attention does.
#include <algorithm>
#include <cmath>
#include <cstdint>

static float dot(const float* a, const float* b, int64_t d) {
  float part[16] = {}, sum = 0;
  int64_t c = 0;
  for (; c + 16 <= d; c += 16) {
    for (int k = 0; k < 16; ++k) part[k] += a[c + k] * b[c + k];
  }
  for (; c < d; ++c) sum += a[c] * b[c];
  for (float p : part) sum += p;
  return sum;
}

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  constexpr int64_t kBlock = 32;
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  for (int64_t i = 0; i < n; ++i) {
    float* __restrict to = out + i * d;
    for (int64_t c = 0; c < d; ++c) to[c] = 0;
    float top = -INFINITY, sum = 0;
    for (int64_t j0 = 0; j0 <= i; j0 += kBlock) {
      const int64_t count = std::min(kBlock, i + 1 - j0);
      float score[kBlock], largest = top;
      for (int64_t j = 0; j < count; ++j) {
        score[j] = dot(q + i * d, k + (j0 + j) * d, d) * scale;
        largest = std::max(largest, score[j]);
      }
      const float shrink = expf(top - largest);
      sum *= shrink;
      for (int64_t c = 0; c < d; ++c) to[c] *= shrink;
      for (int64_t j = 0; j < count; ++j) {
        const float weight = expf(score[j] - largest);
        sum += weight;
        for (int64_t c = 0; c < d; ++c) to[c] += weight * v[(j0 + j) * d + c];
      }
      top = largest;
    }
    for (int64_t c = 0; c < d; ++c) to[c] /= sum;
  }
}
