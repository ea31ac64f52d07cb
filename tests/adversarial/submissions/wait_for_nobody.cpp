// Tries: to look starved by waiting for a futex that never changes, for descriptors that are never ready, and for a signal.
// Stopped by: time without processor time counts, unless the process was ready to run.
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  constexpr int kWait = 0;
  int word = 0;
  for (;;) {
    const timespec tenth{0, 100000000};
    syscall(SYS_futex, &word, kWait, 0, &tenth, nullptr, 0);
    pollfd socket{3, POLLIN, 0};
    poll(&socket, 1, 100);
    sigset_t none;
    sigfillset(&none);
    ppoll(nullptr, 0, &tenth, &none);
  }
}
