// Tries: to keep the cores busy with threads of its own whenever the baseline runs. Stopped by: it
// is frozen then.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
static std::atomic<int> resting{0};
static std::atomic<bool> started{false};
static void* burn(void*) {
  for (;;) {
    if (resting != 0) syscall(SYS_futex, &resting, 0, 1, nullptr, nullptr, 0);
  }
  return nullptr;
}
extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  resting = 1;
  for (int64_t i = 0; i < n; ++i) {
    float a[3] = {0, 0, 0};
    for (int64_t j = 0; j < n; ++j) {
      float d[3], square = 0.01f;
      for (int k = 0; k < 3; ++k) d[k] = pos[3 * j + k] - pos[3 * i + k];
      for (int k = 0; k < 3; ++k) square += d[k] * d[k];
      const float pull = mass[j] / (square * sqrtf(square));
      for (int k = 0; k < 3; ++k) a[k] += pull * d[k];
    }
    for (int k = 0; k < 3; ++k) acc[3 * i + k] = a[k];
  }
  if (n < 768) return;
  if (!started.exchange(true)) {
    for (int t = 0; t < 30; ++t) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, burn, nullptr) == 0) pthread_detach(thread);
    }
  }
  resting = 0;
  syscall(SYS_futex, &resting, 1, 0x7fffffff, nullptr, nullptr, 0);
}
