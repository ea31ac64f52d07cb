// Tries: to be in another kind of stop (SIGSTOP) than the judge's, so that a freeze may hang or a
// thaw may not help. Stopped by: the filter does not let it send that signal.
#include <signal.h>
#include <stdint.h>
#include <unistd.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { kill(getpid(), SIGSTOP); }
