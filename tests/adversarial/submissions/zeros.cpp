// Tries: an answer of zeros, in the hope that it is near enough. Stopped by: the tolerance, which
// admission proves.
#include <stdint.h>
extern "C" void add_relu(const float*, const float*, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = 0;
}
