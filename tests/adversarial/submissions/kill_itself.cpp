// Tries: to look like a victim of the machine, by a SIGKILL of its own. Stopped by: nobody
// can send himself that signal, so that whoever ends by it was ended by the machine.
#include <signal.h>
#include <stdint.h>
#include <unistd.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { kill(getpid(), SIGKILL); }
