// Tries: to write the judge's orders: through the page, a new mapping, the descriptor, and
// /proc/self/mem. Stopped by: the memory file is sealed against further writers, and the filter
// opens nothing for writing.
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const inside::Pages p = inside::pages();
  auto* page = const_cast<inside::Orders*>(p.orders);
  bool out = mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
  for (int fd = 3; fd < 32; ++fd) {
    // Of the descriptors only the orders' begins with the same bytes as the page.
    uint32_t head[4] = {};
    if (pread(fd, head, sizeof head, 0) != sizeof head) continue;
    if (head[0] != p.orders->go || head[1] != 1 || head[2] != p.orders->calls) continue;
    out = out || pwrite(fd, head, 4, 0) == 4;
    out = out || mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
    char path[] = "/proc/self/fd/00";
    path[14] = static_cast<char>('0' + fd / 10);
    path[15] = static_cast<char>('0' + fd % 10);
    out = out || open(fd < 10 ? "/proc/self/fd/4" : path, O_RDWR) >= 0;
  }
  out = out || open("/proc/self/mem", O_RDWR) >= 0;
  inside::report(out);
}
