// Honest: keeps one worker thread that spins on an atomic counter between calls.
#include <immintrin.h>

#include <atomic>
#include <cstdint>
#include <thread>

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

struct Job {
  const float *pos, *mass;
  float* acc;
  int64_t n;
};

class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  ~Worker() {
    job_.n = -1;
    asked_.fetch_add(1, std::memory_order_release);
    thread_.join();
  }
  void start(Job job) {
    job_ = job;
    asked_.fetch_add(1, std::memory_order_release);
  }
  void wait() {
    while (done_.load(std::memory_order_acquire) != asked_.load(std::memory_order_relaxed)) {
      _mm_pause();
    }
  }

 private:
  void run() {
    for (uint64_t turn = 0;; ++turn) {
      while (asked_.load(std::memory_order_acquire) == turn) _mm_pause();
      if (job_.n < 0) return;
      range(job_.pos, job_.mass, job_.acc, job_.n, job_.n / 2, job_.n);
      done_.fetch_add(1, std::memory_order_release);
    }
  }
  std::atomic<uint64_t> asked_{0}, done_{0};
  Job job_{};
  std::thread thread_;
};

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  static Worker worker;
  worker.start({pos, mass, acc, n});
  range(pos, mass, acc, n, 0, n / 2);
  worker.wait();
}
