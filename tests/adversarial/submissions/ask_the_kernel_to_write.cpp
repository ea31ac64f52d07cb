// Tries: to let the kernel write for it while it stands still: io_uring, aio, userfaultfd. Stopped
// by: the filter.
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  char setup[256] = {};
  unsigned long context = 0;
  const bool out = syscall(SYS_io_uring_setup, 8, setup) >= 0 ||
                   syscall(SYS_io_setup, 8, &context) >= 0 || syscall(SYS_userfaultfd, 1) >= 0;
  inside::report(out);
}
