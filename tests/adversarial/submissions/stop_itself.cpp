// Tries: to be in another kind of stop (SIGSTOP) than the judge's, so that a freeze may hang or a
// thaw may not help. Stopped by: the task's time; a freeze of a stopped process is confirmed all
// the same.
#include <signal.h>
#include <stdint.h>
#include <unistd.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { kill(getpid(), SIGSTOP); }
