// Tries: to look starved by sleeping, without using processor time. Stopped by: time without processor time counts, unless
// the process was ready to run and others had its core.
#include <stdint.h>
#include <time.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  for (;;) {
    const timespec second{1, 0};
    nanosleep(&second, nullptr);
  }
}
