// Tries: to run over its input into the guard page and to swallow the fault. Stopped by: a handler
// that returns meets the same fault again, until the time is over.
#include <signal.h>
#include <stdint.h>
static void ignore(int) {}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  signal(SIGSEGV, ignore);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  const volatile float* after = x + n;
  if (*after == 12345.0f) out[0] = 0;
}
