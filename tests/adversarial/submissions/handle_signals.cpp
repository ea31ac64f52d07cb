// Tries: to catch every signal and go on, and to run on another stack. Stopped by: a freeze is no
// signal, and a crash that is caught still has to end in answers.
#include <signal.h>
#include <stdint.h>
static char stack[65536];
static void ignore(int) {}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const stack_t other{stack, 0, sizeof stack};
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = ignore;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  for (int s = 1; s < 32; ++s) sigaction(s, &action, nullptr);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = out[i] > 0 ? out[i] : 0;
}
