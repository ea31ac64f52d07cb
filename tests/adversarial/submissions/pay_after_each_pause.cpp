// Tries: the same without the judge's page: a gap in its clock tells it that it was frozen, so that a round begins, and in
// that call alone it pays. Stopped by: rounds of one call must show the same speedup.
#include <stdint.h>
#include <time.h>
static int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static int64_t last = 0;
  const int64_t start = now_ns();
  const bool begins = start - last > 50'000;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  const int64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);
  while (begins && now_ns(CLOCK_THREAD_CPUTIME_ID) - from < 500'000) {
  }
  last = now_ns();
}
