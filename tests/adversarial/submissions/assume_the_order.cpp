// Tries: to answer, in the call that comes first in memory, all the calls behind it, and nothing in
// the others: work that assumes in which order calls come. Stopped by: the calls of a round come in
// a secret order.
#include <stdint.h>

#include "inside.hpp"
static void one(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static uint32_t round = 0;
  const inside::Pages p = inside::pages();
  const uint64_t at = reinterpret_cast<uint64_t>(x);
  if (n != 1048576) return one(x, y, out, n);
  const bool first = p.orders->go != round;
  round = p.orders->go;
  if (!first) return;
  const uint64_t base = at - p.orders->values[0][0];
  const uint64_t stride = 3 * (4 * static_cast<uint64_t>(n) + 4096);
  const uint64_t number = (at - base) / stride;
  for (uint64_t k = 0; number + k < p.orders->calls; ++k) {
    const uint64_t step = k * stride / 4;
    one(x + step, y + step, out + step, n);
  }
}
