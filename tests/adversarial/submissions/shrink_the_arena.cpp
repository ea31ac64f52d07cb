// Tries: to make the files behind the judge's mappings shorter, so that the judge dies of a SIGBUS
// when it looks. Stopped by: the filter, and seals on each of these files.
#include <fcntl.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  bool done = false;
  for (int fd = 3; fd < 64; ++fd) {
    if (syscall(SYS_ftruncate, fd, 0) == 0) done = true;
    if (syscall(SYS_fallocate, fd, 3 /* punch, keep size */, 0, 4096) == 0) done = true;
  }
  inside::report(done);
}
