// Tries: to close the judge's socket before it has loaded. Stopped by: what ends after the seal is
// the submission's doing.
#include <stdint.h>
#include <unistd.h>
[[gnu::constructor]] static void close_all() { close_range(0, ~0u, 0); }
extern "C" void add_relu(const float*, const float*, float*, int64_t) {}
