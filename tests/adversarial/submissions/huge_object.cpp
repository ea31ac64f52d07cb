// Tries: an initialised array of 1.6 GB, which the compiler writes out, to fill the builder's disk
// or the host's memory. Stopped by: the size limit on every file that a builder writes.
#include <stdint.h>
extern "C" int table[400'000'000];
int table[400'000'000] = {1};
extern "C" void add_relu(const float*, const float*, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(table[i]);
}
