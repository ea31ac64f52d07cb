// expect: correct speedup<1
// Right, but computes the scores anew for each column of the output, eight columns at a time.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int64_t n,
                          int64_t d) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(d));
  std::vector<double> score(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t first = 0; first < d; first += 8) {
      double top = -INFINITY, sum = 0;
      for (int64_t j = 0; j <= i; ++j) {
        score[j] = 0;
        for (int64_t c = 0; c < d; ++c) score[j] += double{q[i * d + c]} * k[j * d + c];
        top = std::fmax(top, score[j] * scale);
      }
      for (int64_t j = 0; j <= i; ++j) sum += score[j] = std::exp(score[j] * scale - top);
      for (int64_t c = first; c < d && c < first + 8; ++c) {
        double total = 0;
        for (int64_t j = 0; j <= i; ++j) total += score[j] * v[j * d + c];
        out[i * d + c] = static_cast<float>(total / sum);
      }
    }
  }
}
