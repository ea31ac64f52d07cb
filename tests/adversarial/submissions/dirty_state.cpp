// Tries: to leave the floating-point unit in another mode (round up, flush to zero), so that others
// are wrong. Stopped by: references and baselines are processes of their own.
#include <immintrin.h>
#include <stdint.h>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  _mm_setcsr(_MM_GET_EXCEPTION_MASK() | _MM_ROUND_UP | _MM_FLUSH_ZERO_ON | 0x0040);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = out[i] > 0 ? out[i] : 0;
}
