// Honest: keeps one worker thread that spins 3000 times after a call and then sleeps.
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

/// Waits until `value` is no longer `old`: first by spinning, then in the system's wait.
static void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int spins = 0; spins < 3000; ++spins) {
    if (value.load(std::memory_order_acquire) != old) return;
    _mm_pause();
  }
  value.wait(old, std::memory_order_acquire);
}

class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  ~Worker() {
    start({nullptr, nullptr, nullptr, -1});
    thread_.join();
  }
  void start(Job job) {
    job_ = job;
    asked_.fetch_add(1, std::memory_order_release);
    asked_.notify_one();
  }
  void wait() {
    const uint32_t asked = asked_.load(std::memory_order_relaxed);
    for (uint32_t done; (done = done_.load(std::memory_order_acquire)) != asked;) {
      wait_for_change(done_, done);
    }
  }

 private:
  void run() {
    for (uint32_t turn = 0;; ++turn) {
      wait_for_change(asked_, turn);
      if (job_.n < 0) return;
      range(job_.pos, job_.mass, job_.acc, job_.n, job_.n / 2, job_.n);
      done_.fetch_add(1, std::memory_order_release);
      done_.notify_one();
    }
  }
  std::atomic<uint32_t> asked_{0}, done_{0};
  Job job_{};
  std::thread thread_;
};

extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  static Worker worker;
  worker.start({pos, mass, acc, n});
  range(pos, mass, acc, n, 0, n / 2);
  worker.wait();
}
