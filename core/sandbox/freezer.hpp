// Freezer: stops all threads of a candidate with confirmation, and resumes them.
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/result.hpp"

namespace hone {

/// Two kinds: cgroup.freeze (a kernel stop that no signal or timer lifts), or ptrace SEIZE and
/// INTERRUPT of every thread. [one thread] All members are called by the thread that made it
/// (ptrace belongs to a thread).
///
///   HONE_TRY(freezer->freeze(0.5));   // returns once all threads have stopped
///   … write inputs …
///   HONE_TRY(freezer->thaw());
class Freezer {
 public:
  static Result<std::unique_ptr<Freezer>> with_cgroup(int freeze_fd, int frozen_events_fd);
  /// The candidate must have allowed tracing (PR_SET_PTRACER_ANY in seal()). Its signals are passed on while
  /// it is traced.
  static Result<std::unique_ptr<Freezer>> with_ptrace(pid_t pid);
  virtual ~Freezer() = default;
  /// Returns once the kernel has confirmed the freeze. `deadline_exceeded` after timeout_s; `not_found` if
  /// the process has ended.
  virtual Status freeze(double timeout_s) = 0;
  virtual Status thaw() = 0;
  /// ptrace: handles pending stops (signals, new threads); call it in every waiting loop. cgroup:
  /// does nothing.
  virtual void service() = 0;
};

}  // namespace hone
