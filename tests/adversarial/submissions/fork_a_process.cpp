// Tries: to start a second process, which would not be frozen. Stopped by: the filter: clone makes
// threads of this process at most, and only where the task grants any.
#include <signal.h>
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) syscall(SYS_exit_group, 0);
  inside::report(child > 0);
}
