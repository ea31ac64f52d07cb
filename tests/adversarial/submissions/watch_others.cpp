// Tries: to learn who works when in other processes: their processor time by the clock that the
// kernel has of each, where they may run, and the load of the machine. Stopped by: the filter, which
// leaves one's own clocks and oneself alone.
#include <sched.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const int self = static_cast<int>(syscall(SYS_getpid));
  bool seen = false;
  for (int pid = 1; pid < 65536; ++pid) {
    if (pid == self) continue;
    timespec time;
    cpu_set_t set;
    seen = seen || syscall(SYS_clock_gettime, ~pid << 3 | 2, &time) == 0 ||
           syscall(SYS_sched_getaffinity, pid, sizeof set, &set) > 0;
  }
  struct sysinfo machine;
  inside::report(seen || sysinfo(&machine) == 0);
}
