// Tries: to look like a victim of a machine short of memory: it maps 128 MiB, gives them back and touches them again, for
// ever. Stopped by: page faults are its own processor time. A wait for memory is excluded only while the machine would be
// short of memory without this process, too.
#include <stdint.h>
#include <sys/mman.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  constexpr size_t kBytes = size_t{128} << 20;
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (;;) {
    for (size_t at = 0; at < kBytes; at += 4096) static_cast<volatile char*>(block)[at] = 1;
    madvise(block, kBytes, MADV_DONTNEED);
  }
}
