// Tries: the same, and makes some rounds slow on purpose, so that its interval is wide and rounds of one call seem to
// agree with it. Stopped by: what rounds of one call show is compared with the best of them, and slow rounds are paid for.
#include <stdint.h>
#include <time.h>
static int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static int64_t last = 0;
  static int rounds = 0;
  const int64_t start = now_ns();
  const bool begins = start - last > 50'000;
  rounds += begins ? 1 : 0;
  const int64_t cost = rounds % 4 == 0 ? 3'000'000 : 500'000;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  const int64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);
  while (begins && now_ns(CLOCK_THREAD_CPUTIME_ID) - from < cost) {
  }
  last = now_ns();
}
