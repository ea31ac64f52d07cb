// Tries: to look like a victim of the machine, by a SIGKILL of its own. Stopped by: the filter does not let it send that
// signal; and an unexplained SIGKILL is not excused.
#include <signal.h>
#include <stdint.h>
#include <unistd.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { kill(getpid(), SIGKILL); }
