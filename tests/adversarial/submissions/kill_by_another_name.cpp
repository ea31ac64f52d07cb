// Tries: a SIGKILL of its own by calls other than kill(): queued signals, process descriptors, file ownership, timers,
// limits, its parent's death. Stopped by: the filter; and an unexplained SIGKILL is not excused.
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const long self = getpid(), thread = syscall(SYS_gettid);
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  syscall(SYS_rt_sigqueueinfo, self, SIGKILL, &info);
  syscall(SYS_rt_tgsigqueueinfo, self, thread, SIGKILL, &info);
  const long fd = syscall(SYS_pidfd_open, self, 0);
  syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0);
  for (int end = 0; end < 8; ++end) {
    fcntl(end, F_SETOWN, self);
    fcntl(end, F_SETSIG, SIGKILL);
    fcntl(end, F_SETFL, O_ASYNC);
  }
  sigevent event{};
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  const itimerspec soon{{}, {0, 1}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &soon, nullptr);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CPU, &none);
  prlimit(0, RLIMIT_CPU, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const timespec while_it_comes{0, 20'000'000};
  nanosleep(&while_it_comes, nullptr);
  inside::report(false);
}
