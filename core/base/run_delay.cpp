// Reads /proc/PID/schedstat: nanoseconds on a core, nanoseconds of waiting for one, number of turns.
#include "base/run_delay.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace hone {

RunDelay::RunDelay(pid_t thread) {
  const std::string path = "/proc/" + std::to_string(thread) + "/schedstat";
  schedstat_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

double RunDelay::seconds() const {
  if (!schedstat_) return 0;
  char text[128];
  const ssize_t size = ::pread(schedstat_.get(), text, sizeof text - 1, 0);
  if (size <= 0) return 0;
  text[size] = '\0';
  unsigned long long ran_ns = 0, waited_ns = 0;
  if (std::sscanf(text, "%llu %llu", &ran_ns, &waited_ns) != 2) return 0;
  return static_cast<double>(waited_ns) * 1e-9;
}

}  // namespace hone
