// Tries: to start a process by vfork, behind which its parent could not be frozen. Stopped by: the
// filter.
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  inside::report(child > 0);
}
