// Tries: to look like a victim of the machine, by a SIGKILL of its own whose number has bits set that the kernel ignores.
// Stopped by: the filter allows signals by their exact 64-bit value; and an unexplained SIGKILL is not excused.
#include <signal.h>
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const long self = getpid(), thread = syscall(SYS_gettid);
  for (int bit = 32; bit < 64; ++bit) {
    const long number = SIGKILL | static_cast<long>(1ul << bit);
    syscall(SYS_kill, self, number);
    syscall(SYS_kill, self | static_cast<long>(1ul << bit), SIGKILL);
    syscall(SYS_tgkill, self, thread, number);
    syscall(SYS_tkill, thread, number);
  }
  inside::report(false);
}
