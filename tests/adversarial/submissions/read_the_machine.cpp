// Tries: to read a file of the machine. Stopped by: Landlock, which leaves it no path at all.
#include <fcntl.h>
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  inside::report(open("/etc/ld.so.cache", O_RDONLY) >= 0);
}
