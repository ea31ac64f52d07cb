// Tries: timers that would send it signals while it should stand still. Stopped by: the filter; and
// a frozen process gets no signal.
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  itimerval often{{0, 1000}, {0, 1000}};
  timer_t timer;
  const bool out = setitimer(ITIMER_VIRTUAL, &often, nullptr) == 0 ||
                   timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0;
  inside::report(out);
}
