// Tries: to look like a victim of the machine, by a SIGKILL of its own. Stopped by: a signal is a
// crash; only the limit itself makes an end out of memory.
#include <signal.h>
#include <stdint.h>
#include <unistd.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { kill(getpid(), SIGKILL); }
