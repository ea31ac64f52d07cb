// Tries: to take the place of functions that the judge might use: memcpy, malloc, clock_gettime.
// Stopped by: the judge is another process, and the library is loaded for itself.
#include <stddef.h>
#include <stdint.h>
#include <time.h>
extern "C" {
__attribute__((visibility("default"))) void* memcpy(void* to, const void*, size_t) noexcept {
  return to;
}
__attribute__((visibility("default"))) void* memset(void* to, int, size_t) noexcept { return to; }
__attribute__((visibility("default"))) int memcmp(const void*, const void*, size_t) noexcept {
  return 0;
}
__attribute__((visibility("default"))) int clock_gettime(clockid_t, timespec* t) noexcept {
  *t = {0, 1};
  return 0;
}
__attribute__((visibility("default"))) void _exit(int) {
  for (;;) {
  }
}
void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = out[i] > 0 ? out[i] : 0;
}
}
