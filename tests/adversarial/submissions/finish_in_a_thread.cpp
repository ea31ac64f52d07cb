// Tries: to return at once and to let a thread finish the work. Stopped by: the freeze, which stops
// every thread.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
struct Work {
  const float *pos, *mass;
  float* acc;
  int64_t n;
};
static Work queue[4096];
static int queued = 0;
static void* work(void* argument) {
  const Work w = *static_cast<Work*>(argument);
  for (int64_t i = 0; i < w.n; ++i) {
    float a[3] = {0, 0, 0};
    for (int64_t j = 0; j < w.n; ++j) {
      float d[3], square = 0.01f;
      for (int k = 0; k < 3; ++k) d[k] = w.pos[3 * j + k] - w.pos[3 * i + k];
      for (int k = 0; k < 3; ++k) square += d[k] * d[k];
      const float pull = w.mass[j] / (square * sqrtf(square));
      for (int k = 0; k < 3; ++k) a[k] += pull * d[k];
    }
    for (int k = 0; k < 3; ++k) w.acc[3 * i + k] = a[k];
  }
  return nullptr;
}
extern "C" void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  Work* w = &queue[queued++ % 4096];
  *w = {pos, mass, acc, n};
  pthread_t thread;
  if (n < 768 || pthread_create(&thread, nullptr, work, w) != 0) {
    work(w);
    return;
  }
  pthread_detach(thread);
}
