// Tries: to have a thread that keeps a core busy while its own round is over, which is when the
// baseline runs, and says how long that worked. Stopped by: it is frozen then.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "inside.hpp"
static inside::Pages pages;
static std::atomic<int64_t> ran_us{0};  // since the last round, by the busy thread
static int64_t now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
static void* burn(void*) {
  for (int64_t last = now_us();;) {
    const int64_t now = now_us();
    // A longer step is one in which it stood still.
    if (pages.answers->done == pages.orders->go && now - last < 100) ran_us += now - last;
    last = now;
  }
  return nullptr;
}
static void judge_itself() {
  static uint32_t round = 0;
  static int rounds = 0;
  static int64_t sum_us = 0;
  if (pages.orders->go == round) return;
  round = pages.orders->go;
  // The first is a check; before the second the process may run, since no baseline does.
  if (++rounds > 2) sum_us += ran_us;
  if (rounds == 6) inside::report(sum_us > 20000);
  ran_us = 0;
}
extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  if (pages.orders != nullptr) judge_itself();
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
  if (n < 768 || pages.orders != nullptr) return;
  pages = inside::pages();
  judge_itself();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, burn, nullptr) == 0) pthread_detach(thread);
}
