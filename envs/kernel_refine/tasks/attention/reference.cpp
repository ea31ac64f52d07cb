// The answers for attention: scores, softmax and weighted sum, a row at a time.
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

template <typename T>
void attention_as(const float* q, const float* k, const float* v, T* out, int64_t n, int64_t d) {
  const T scale = 1 / std::sqrt(static_cast<T>(d));
  std::vector<T> score(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    T top = -INFINITY;
    for (int64_t j = 0; j <= i; ++j) {
      T dot = 0;
      for (int64_t c = 0; c < d; ++c) dot += static_cast<T>(q[i * d + c]) * static_cast<T>(k[j * d + c]);
      score[j] = dot * scale;
      top = score[j] > top ? score[j] : top;
    }
    T sum = 0;
    for (int64_t j = 0; j <= i; ++j) sum += score[j] = std::exp(score[j] - top);
    for (int64_t c = 0; c < d; ++c) out[i * d + c] = 0;
    for (int64_t j = 0; j <= i; ++j) {
      const T weight = score[j] / sum;
      for (int64_t c = 0; c < d; ++c) out[i * d + c] += weight * static_cast<T>(v[j * d + c]);
    }
  }
}

}  // namespace

extern "C" void reference(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  attention_as<float>(q, k, v, out, n, d);
}

extern "C" void exact(const float* q, const float* k, const float* v, double* out, int64_t n,
                      int64_t d) {
  attention_as<double>(q, k, v, out, n, d);
}
