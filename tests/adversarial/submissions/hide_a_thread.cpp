// Tries: threads that a tracer would not hear of (CLONE_UNTRACED), or that are children of its
// parent (CLONE_PARENT). Stopped by: the filter looks at the flags of clone; clone3, whose flags it
// cannot see, is missing.
#include <sched.h>
#include <signal.h>
#include <stdint.h>

#include "inside.hpp"
extern "C" void nbody(const float*, const float*, float*, int64_t) {
  bool out = false;
  for (const long flags :
       {CLONE_UNTRACED | SIGCHLD | 0L, CLONE_PARENT | SIGCHLD | 0L, CLONE_PTRACE | SIGCHLD | 0L}) {
    const long child = syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) syscall(SYS_exit_group, 0);
    out = out || child > 0;
  }
  char arguments[88] = {};
  errno = 0;
  syscall(SYS_clone3, arguments, 8);
  inside::report(out || errno != ENOSYS);
}
