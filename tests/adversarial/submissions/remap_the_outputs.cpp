// Tries: to put private memory where the outputs are, so as to keep writes to itself. Stopped by:
// the judge looks at its own mapping, where poison lies.
#include <stdint.h>
#include <sys/mman.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const uint64_t from = reinterpret_cast<uint64_t>(out) / 4096 * 4096;
  const uint64_t to = (reinterpret_cast<uint64_t>(out + n) + 4095) / 4096 * 4096;
  mmap(reinterpret_cast<void*>(from), to - from, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
