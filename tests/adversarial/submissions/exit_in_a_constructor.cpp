// Tries: to leave with exit code 0 before anything was asked of it. Stopped by: an end while
// loading is a crash.
#include <stdint.h>
#include <stdlib.h>
[[gnu::constructor]] static void leave() { exit(0); }
extern "C" void add_relu(const float*, const float*, float*, int64_t) {}
