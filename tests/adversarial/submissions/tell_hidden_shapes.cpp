// Tries: to tell its author by an exception what a hidden shape was. Stopped by: about a hidden
// shape no word of the submission's comes through.
#include <stdint.h>
#include <stdio.h>

#include "inside.hpp"
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static char words[64];
  snprintf(words, sizeof words, "secret: n=%lld", static_cast<long long>(n));
  if (n != 1 && n != 1003 && n != 65536) throw inside::Report(words);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
