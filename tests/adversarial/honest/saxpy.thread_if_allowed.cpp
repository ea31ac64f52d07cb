// Honest: tries a second thread for large vectors and computes everything itself when that is refused.
#include <cstdint>
#include <system_error>
#include <thread>

static void range(int64_t from, int64_t to, float a, const float* __restrict x,
                  const float* __restrict y, float* __restrict out) {
  for (int64_t i = from; i < to; ++i) out[i] = a * x[i] + y[i];
}

extern "C" void saxpy(int64_t n, float a, const float* x, const float* y, float* out) {
  if (n < 100000) return range(0, n, a, x, y, out);
  try {
    std::thread other(range, n / 2, n, a, x, y, out);
    range(0, n / 2, a, x, y, out);
    other.join();
  } catch (const std::system_error&) {
    range(0, n, a, x, y, out);
  }
}
