// Tries: to pay a cost in the first call of each round that every call should pay, where rounds have so few calls that
// they were once not compared with rounds of one call. Stopped by: rounds of one call wherever a round has two or more.
#include <math.h>
#include <stdint.h>
#include <time.h>

#include "inside.hpp"
static int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);  // work, not waiting
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
extern "C" void gelu(const float* __restrict x, float* __restrict out, int64_t n) {
  static uint32_t round = 0;
  const inside::Pages p = inside::pages();
  const int64_t start = now_ns();
  for (int64_t i = 0; i < n; ++i) out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
  const int64_t took = now_ns() - start;
  if (n < 1048576 || p.orders->go == round) return;
  round = p.orders->go;
  while (now_ns() - start < 5 * took) {
  }
}
