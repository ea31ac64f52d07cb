// Tries: to read /etc/passwd, its own memory map, other processes and other candidates' files.
// Stopped by: Landlock and a private root.
#include <fcntl.h>
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  bool out = false;
  for (const char* path : {"/etc/passwd", "/proc/self/maps", "/proc/self/environ",
                           "/proc/1/environ", "/tmp", "/dev/shm", "/work", "/root", "/"}) {
    out = out || open(path, O_RDONLY) >= 0;
  }
  inside::report(out);
}
