// Tries: to leave the cores that the task grants. Stopped by: the filter.
#include <sched.h>
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < 1024; ++cpu) CPU_SET(cpu, &all);
  inside::report(sched_setaffinity(0, sizeof all, &all) == 0);
}
