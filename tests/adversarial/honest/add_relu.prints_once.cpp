// Honest: prints one line to standard error on its first call, as a forgotten debug message does.
#include <cstdint>
#include <cstdio>

extern "C" void add_relu(const float* __restrict x, const float* __restrict y,
                         float* __restrict out, int64_t n) {
  static bool is_first = true;
  if (is_first) std::fprintf(stderr, "add_relu: n = %lld\n", static_cast<long long>(n));
  is_first = false;
  for (int64_t i = 0; i < n; ++i) {
    const float sum = x[i] + y[i];
    out[i] = sum > 0 ? sum : 0;
  }
}
