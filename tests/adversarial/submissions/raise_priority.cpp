// Tries: to change its own limits, priority, personality or visibility. Stopped by: the filter.
#include <stdint.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  const bool out = setrlimit(RLIMIT_CORE, &none) == 0 || setpriority(PRIO_PROCESS, 0, 5) == 0 ||
                   personality(ADDR_NO_RANDOMIZE) >= 0 || prctl(PR_SET_DUMPABLE, 0) == 0 ||
                   prctl(PR_SET_PTRACER, 0, 0, 0, 0) == 0 || prctl(PR_SET_PDEATHSIG, 0) == 0;
  inside::report(out);
}
