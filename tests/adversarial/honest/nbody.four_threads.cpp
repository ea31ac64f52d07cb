// Honest: four threads on two cores take blocks of bodies from one atomic counter.
#include <immintrin.h>

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

/// Accelerations of the bodies from `from` up to `to`, eight of them per vector.
static void range(const float* pos, const float* mass, float* acc, int64_t n, int64_t from,
                  int64_t to) {
  for (int64_t i0 = from; i0 < to; i0 += 8) {
    float in[3][8], sum[3][8];
    for (int64_t k = 0; k < 8; ++k) {
      const int64_t i = i0 + k < to ? i0 + k : to - 1;
      for (int d = 0; d < 3; ++d) in[d][k] = pos[3 * i + d];
    }
    const __m256 x = _mm256_loadu_ps(in[0]), y = _mm256_loadu_ps(in[1]), z = _mm256_loadu_ps(in[2]);
    __m256 ax = _mm256_setzero_ps(), ay = ax, az = ax;
    for (int64_t j = 0; j < n; ++j) {
      const __m256 dx = _mm256_sub_ps(_mm256_broadcast_ss(pos + 3 * j), x);
      const __m256 dy = _mm256_sub_ps(_mm256_broadcast_ss(pos + 3 * j + 1), y);
      const __m256 dz = _mm256_sub_ps(_mm256_broadcast_ss(pos + 3 * j + 2), z);
      __m256 square = _mm256_fmadd_ps(dx, dx, _mm256_set1_ps(0.01f));
      square = _mm256_fmadd_ps(dy, dy, square);
      square = _mm256_fmadd_ps(dz, dz, square);
      const __m256 cube = _mm256_mul_ps(square, _mm256_sqrt_ps(square));
      const __m256 pull = _mm256_div_ps(_mm256_broadcast_ss(mass + j), cube);
      ax = _mm256_fmadd_ps(pull, dx, ax);
      ay = _mm256_fmadd_ps(pull, dy, ay);
      az = _mm256_fmadd_ps(pull, dz, az);
    }
    _mm256_storeu_ps(sum[0], ax);
    _mm256_storeu_ps(sum[1], ay);
    _mm256_storeu_ps(sum[2], az);
    for (int64_t k = 0; k < 8 && i0 + k < to; ++k) {
      for (int d = 0; d < 3; ++d) acc[3 * (i0 + k) + d] = sum[d][k];
    }
  }
}

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  constexpr int64_t kBlock = 32;
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i; (i = next.fetch_add(kBlock)) < n;) {
      range(pos, mass, acc, n, i, i + kBlock < n ? i + kBlock : n);
    }
  };
  std::vector<std::thread> others;
  try {
    for (int t = 1; t < 4; ++t) others.emplace_back(work);
  } catch (const std::system_error&) {
    // Fewer threads than asked for do the same work.
  }
  work();
  for (auto& other : others) other.join();
}
