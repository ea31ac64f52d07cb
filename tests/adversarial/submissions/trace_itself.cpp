// Tries: to be traced by its parent, so that no other process can stop it. Stopped by: the filter, which
// kills.
#include <stdint.h>
#include <sys/ptrace.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  inside::report(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0);
}
