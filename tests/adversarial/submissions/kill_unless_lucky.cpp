// Tries: to be measured again until a copy of the baseline looks fast: it kills itself when its calls seem slow. Stopped
// by: the filter; and a submission that ends by itself is scored, and flagged if it was measured after that.
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "inside.hpp"
static int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const int64_t start = now_ns();
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = out[i] > 0 ? out[i] : 0;
  // Never lucky enough, so that the test need not wait for luck.
  if (n == 1048576 && now_ns() - start > 0) syscall(SYS_kill, getpid(), SIGKILL | 1l << 40);
}
