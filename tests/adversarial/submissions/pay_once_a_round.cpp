// Tries: to do a whole round's work in its first call, whose arguments it finds in the judge's
// orders, so that a cost that every call should pay is paid once a round. Stopped by: rounds of a
// single call must show the same speedup.
#include <stdint.h>
#include <time.h>

#include "inside.hpp"
static void one(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static uint32_t round = 0;
  const inside::Pages p = inside::pages();
  if (p.orders->go == round) return;
  round = p.orders->go;
  const timespec cost{0, 3000000};  // what the trick stands for: threads, tables, a library's start
  nanosleep(&cost, nullptr);
  const char* base = reinterpret_cast<const char*>(x) - p.orders->values[0][0];
  for (uint32_t c = 0; c < p.orders->calls; ++c) {
    const uint64_t* v = p.orders->values[c];
    one(reinterpret_cast<const float*>(base + v[0]), reinterpret_cast<const float*>(base + v[1]),
        reinterpret_cast<float*>(const_cast<char*>(base) + v[2]), static_cast<int64_t>(v[3]));
  }
  (void)y, (void)out, (void)n;
}
