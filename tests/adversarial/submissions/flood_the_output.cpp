// Tries: to write to stdout without end, so as to fill a pipe, a disk or the host's memory. Stopped
// by: the launcher keeps the last 64 KiB and throws the rest away.
#include <stdint.h>
#include <string.h>
#include <unistd.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static char block[65536];
  static bool done = false;
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 400 && !done; ++i) (void)!write(1 + i % 2, block, sizeof block);
  done = true;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = out[i] > 0 ? out[i] : 0;
}
