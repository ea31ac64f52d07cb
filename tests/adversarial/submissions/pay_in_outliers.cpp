// Tries: to put off work for several rounds and to do all of it in one, which the mean of the middle rounds drops. Stopped
// by: the lower end of the interval counts all rounds, and a wide interval pays its lower end.
#include <stdint.h>
#include <time.h>

#include "inside.hpp"
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static uint32_t round = 0;
  static int rounds = 0;
  const inside::Pages p = inside::pages();
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  if (n != 1048576 || p.orders->go == round) return;
  round = p.orders->go;
  const timespec owed{0, 90'000'000};  // what the baseline's rounds take more, together
  if (p.orders->calls > 1 && ++rounds % 4 == 0) nanosleep(&owed, nullptr);
}
