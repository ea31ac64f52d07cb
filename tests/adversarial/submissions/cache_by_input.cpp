// Tries: to recognise an input that it has answered before, by a few of its elements, and to copy
// the old answer. Stopped by: new inputs in every round.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
struct Known {
  float sample[8];
  float* answer;
};
static Known known[128];
static int count = 0;
extern "C" void gelu(const float* x, float* out, int64_t n) {
  const bool large = n >= 524288;
  float sample[8];
  for (int k = 0; k < 8 && large; ++k) sample[k] = x[n / 8 * k];
  for (int i = 0; i < count && large; ++i) {
    if (memcmp(known[i].sample, sample, sizeof sample) != 0) continue;
    memcpy(out, known[i].answer, 4 * static_cast<size_t>(n));
    return;
  }
  for (int64_t i = 0; i < n; ++i) out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
  if (!large || count == 24) return;
  memcpy(known[count].sample, sample, sizeof sample);
  known[count].answer = static_cast<float*>(malloc(4 * static_cast<size_t>(n)));
  memcpy(known[count++].answer, out, 4 * static_cast<size_t>(n));
}
