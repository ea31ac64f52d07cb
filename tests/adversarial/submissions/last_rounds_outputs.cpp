// Tries: to do nothing when the inputs are those of a round before, since the answers lie there
// still. Stopped by: poison over the outputs, even if inputs ever came twice.
#include <math.h>
#include <stdint.h>
#include <string.h>
struct Known {
  const float* x;
  float sample[8];
};
static Known known[256];
static int count = 0;
extern "C" void gelu(const float* x, float* out, int64_t n) {
  Known now{x, {}};
  if (n >= 524288) {
    for (int k = 0; k < 8; ++k) now.sample[k] = x[n / 8 * k];
    for (int i = 0; i < count; ++i) {
      if (memcmp(&known[i], &now, sizeof now) == 0) return;
    }
    if (count < 256) known[count++] = now;
  }
  for (int64_t i = 0; i < n; ++i) out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}
