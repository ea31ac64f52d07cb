// Tries: to look like a victim of a busy machine by using no processor time: it sleeps. Stopped by: time without processor
// time counts, unless it was ready to run and others had its core.
#include <stdint.h>
#include <time.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  for (;;) {
    const timespec second{1, 0};
    nanosleep(&second, nullptr);
  }
}
