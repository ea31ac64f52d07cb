// Tries: never to end. Stopped by: the task's time.
#include <stdint.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  for (volatile int i = 0;; i = 1) {
  }
}
