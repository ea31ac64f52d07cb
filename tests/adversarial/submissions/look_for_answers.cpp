// Tries: to find the expected values in its memory, as floats or doubles. Stopped by: they are
// never there: answers are computed after the outputs were read, in another process.
#include <stdint.h>
#include <string.h>

#include "inside.hpp"
template <typename T>
static int find(const char* page, const float* answer) {
  T pattern[8];
  int found = 0;
  for (int i = 0; i < 8; ++i) pattern[i] = static_cast<T>(answer[i]);
  for (int at = 0; at + 64 <= 4096; at += 4) {
    if (page + at != reinterpret_cast<const char*>(answer) &&
        memcmp(page + at, pattern, sizeof pattern) == 0)
      ++found;
  }
  return found;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  if (n != 1048576) return;  // the shape that is checked without guard pages in between
  int found = 0;
  const auto here = reinterpret_cast<uint64_t>(out) / 4096 * 4096;
  for (uint64_t page = here - (uint64_t{64} << 20); page < here + (uint64_t{64} << 20);
       page += 4096) {
    const auto* at = reinterpret_cast<const char*>(page);
    if (inside::is_mapped(page) && page >= reinterpret_cast<uint64_t>(x) / 4096 * 4096 &&
        page < here + 4 * 1048576)
      found += find<float>(at, out) + find<double>(at, out);
  }
  inside::report(found > 0);
}
