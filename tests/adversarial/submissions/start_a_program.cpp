// Tries: to become another program. Stopped by: the filter.
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  char name[] = "/bin/sh";
  char* arguments[] = {name, nullptr};
  errno = 0;
  syscall(SYS_execve, name, arguments, arguments + 1);
  inside::report(errno != EPERM);
}
