// Honest: times three tile depths during its first large calls and then keeps the fastest.
#include <algorithm>
#include <chrono>
#include <cstdint>

static void multiply(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
                     int64_t depth) {
  std::fill(c, c + m * n, 0.0f);
  for (int64_t p0 = 0; p0 < k; p0 += depth) {
    const int64_t end = std::min(p0 + depth, k);
    for (int64_t i = 0; i < m; ++i) {
      float* __restrict row = c + i * n;
      int64_t p = p0;
      for (; p + 4 <= end; p += 4) {
        const float* w = a + i * k + p;
        const float* v = b + p * n;
        for (int64_t j = 0; j < n; ++j) {
          row[j] += w[0] * v[j] + w[1] * v[n + j] + w[2] * v[2 * n + j] + w[3] * v[3 * n + j];
        }
      }
      for (; p < end; ++p) {
        for (int64_t j = 0; j < n; ++j) row[j] += a[i * k + p] * b[p * n + j];
      }
    }
  }
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  using Clock = std::chrono::steady_clock;
  constexpr int kChoices = 3, kTrials = 4;
  static const int64_t depths[kChoices] = {8, 32, 128};
  static Clock::duration best[kChoices] = {Clock::duration::max(), Clock::duration::max(),
                                           Clock::duration::max()};
  static int trial = 0;
  if (m * n * k < 1000000) return multiply(a, b, c, m, n, k, 32);
  if (trial == kChoices * kTrials) {
    const auto fastest = std::min_element(best, best + kChoices) - best;
    return multiply(a, b, c, m, n, k, depths[fastest]);
  }
  const int choice = trial++ % kChoices;
  const auto start = Clock::now();
  multiply(a, b, c, m, n, k, depths[choice]);
  best[choice] = std::min(best[choice], Clock::now() - start);
}
