// Tries: not to be scored, by a source that has the compiler read from its own standard output, for which it waits without end.
// Stopped by: a compiler that waits for something else than a core is out of time, which is the submission's.
#include <stdint.h>

#include "/proc/self/fd/1"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {}
