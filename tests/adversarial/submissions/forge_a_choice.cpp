// Tries: to put configurations of an autotuned kernel into its verdict. Stopped by: only a recorded plan has them.
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  inside::Answers& answers = *inside::pages().answers;
  answers.chosen_count = 16;
  for (uint32_t& chosen : answers.chosen) chosen = 6;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
