// Tries: to use more memory than the task grants. Stopped by: the judge's watch over its resident
// memory.
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static bool done = false;
  constexpr size_t kBlock = size_t{16} << 20;
  for (int i = 0; i < 40 && !done; ++i) {
    void* block = mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) break;
    memset(block, 1, kBlock);
  }
  done = true;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
