// Tries: to end its parent, the judge, or whatever has a low number. Stopped by: the filter lets it
// signal itself alone.
#include <signal.h>
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  bool out = kill(getppid(), 0) == 0 || kill(-1, 0) == 0 || kill(0, 0) == 0;
  for (pid_t pid = 1; pid < 32768; ++pid)
    out = out || (pid != getpid() && syscall(SYS_tgkill, pid, pid, 0) == 0);
  inside::report(out);
}
