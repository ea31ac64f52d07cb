// expect: correct speedup>1
// Dot products in eight partial sums, and the division by the sum done once per row at the end.
#include <cmath>
#include <cstdint>
#include <vector>

typedef float f8 __attribute__((vector_size(32), aligned(4)));

static float dot(const float* a, const float* b, int64_t d) {
  f8 part = {};
  int64_t c = 0;
  for (; c + 8 <= d; c += 8) {
    part += *reinterpret_cast<const f8*>(a + c) * *reinterpret_cast<const f8*>(b + c);
  }
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += part[k];
  for (; c < d; ++c) sum += a[c] * b[c];
  return sum;
}

extern "C" void attention(const float* __restrict q, const float* __restrict k,
                          const float* __restrict v, float* __restrict out, int64_t n, int64_t d) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  std::vector<float> score(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    float top = -INFINITY;
    for (int64_t j = 0; j <= i; ++j) {
      score[j] = dot(q + i * d, k + j * d, d) * scale;
      top = score[j] > top ? score[j] : top;
    }
    float* row = out + i * d;
    for (int64_t c = 0; c < d; ++c) row[c] = 0;
    float sum = 0;
    for (int64_t j = 0; j <= i; ++j) {
      const float weight = expf(score[j] - top);
      sum += weight;
      for (int64_t c = 0; c < d; ++c) row[c] += weight * v[j * d + c];
    }
    const float inverse = 1.0f / sum;
    for (int64_t c = 0; c < d; ++c) row[c] *= inverse;
  }
}
