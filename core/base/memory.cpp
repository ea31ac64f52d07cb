// What the kernel says of this process.
#include "base/memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace hone {

std::size_t resident_bytes() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace hone
