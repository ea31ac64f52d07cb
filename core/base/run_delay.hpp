// Time for which a thread was ready and waited for a core.
#pragma once

#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace hone {

/// The run delay of one thread: time in which it was ready to run and another thread had its core. The kernel counts it
/// (/proc/PID/schedstat, Linux with CONFIG_SCHED_INFO). Sleeping and being frozen are not part of it.
class RunDelay {
 public:
  RunDelay() = default;  ///< belongs to no thread
  explicit RunDelay(pid_t thread);
  /// Seconds since the thread started; 0 where the kernel does not count them.
  double seconds() const;

 private:
  UniqueFd schedstat_;
};

}  // namespace hone
