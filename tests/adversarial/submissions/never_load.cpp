// Tries: a constructor that never returns. Stopped by: the time limit, while loading too.
#include <stdint.h>
[[gnu::constructor]] static void stay() {
  for (volatile int i = 0;; i = 1) {
  }
}
extern "C" void add_relu(const float*, const float*, float*, int64_t) {}
