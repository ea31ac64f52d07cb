// expect: wrong
// Divides the scores by d where it should divide by its root.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  std::vector<float> score(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j <= i; ++j) {
      float dot = 0;
      for (int64_t c = 0; c < d; ++c) dot += q[i * d + c] * k[j * d + c];
      score[j] = dot / static_cast<float>(d);
      top = score[j] > top ? score[j] : top;
    }
    for (int64_t j = 0; j <= i; ++j) sum += score[j] = expf(score[j] - top);
    for (int64_t c = 0; c < d; ++c) out[i * d + c] = 0;
    for (int64_t j = 0; j <= i; ++j) {
      for (int64_t c = 0; c < d; ++c) out[i * d + c] += score[j] / sum * v[j * d + c];
    }
  }
}
