// expect: wrong
// Forgets the causal mask: every row sees every other.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  std::vector<float> score(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      float dot = 0;
      for (int64_t c = 0; c < d; ++c) dot += q[i * d + c] * k[j * d + c];
      score[j] = dot * scale;
      top = score[j] > top ? score[j] : top;
    }
    for (int64_t j = 0; j < n; ++j) sum += score[j] = expf(score[j] - top);
    for (int64_t c = 0; c < d; ++c) out[i * d + c] = 0;
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t c = 0; c < d; ++c) out[i * d + c] += score[j] / sum * v[j * d + c];
    }
  }
}
