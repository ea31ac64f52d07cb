// Honest: interpolates in a table of 3 MiB that a constructor fills when the library is loaded.
#include <cmath>
#include <cstdint>

constexpr int kPerUnit = 65536, kEntries = 12 * kPerUnit + 2;

struct Table {
  float values[kEntries];
  Table() {
    for (int i = 0; i < kEntries; ++i) {
      const float v = static_cast<float>(i) / kPerUnit - 6.0f;
      values[i] = 0.5f * erfcf(-v * 0.70710678f);
    }
  }
};
static const Table table;

extern "C" void gelu(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] >= 6.0f || x[i] <= -6.0f) {
      out[i] = x[i] > 0 ? x[i] : 0.0f;
      continue;
    }
    const double place = (static_cast<double>(x[i]) + 6.0) * kPerUnit;
    const int at = static_cast<int>(place);
    const float part = static_cast<float>(place - at);
    out[i] = x[i] * (table.values[at] + part * (table.values[at + 1] - table.values[at]));
  }
}
