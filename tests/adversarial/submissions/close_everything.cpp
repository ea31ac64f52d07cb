// Tries: to close every descriptor, in the hope that something of ours breaks. Stopped by: nothing
// to be had; what is needed is mapped.
#include <stdint.h>
#include <unistd.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  close_range(0, ~0u, 0);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = out[i] > 0 ? out[i] : 0;
}
