// await_answer(): waits for the answer of a sandboxed process, within limits of its time.
#pragma once

#include "sandbox/launcher.hpp"

namespace hone {

/// Time limits of a sandboxed process: for a build, a dry run, a recording, or a run under a sanitizer.
struct AnswerLimits {
  double own_s;    ///< its own time: running, sleeping, and waiting for anything but a core
  double clock_s;  ///< elapsed time without pauses of the machine; at least own_s
};

enum class TimeLimit {
  kNone,   ///< it has answered or ended
  kOwn,    ///< it used up its own time
  kClock,  ///< it was starved: other processes had its cores, or memory was short
};

/// How a wait ended.
struct Waited {
  TimeLimit reached = TimeLimit::kNone;
  double passed_s = 0;
  double starved_s = 0;  ///< the part of passed_s that is not its own time

  /// Whether less than a third of the time was its own.
  bool was_starved() const { return passed_s > 0 && passed_s - starved_s < passed_s / 3; }
};

/// Which limit is exceeded; kNone: neither. `halted_s`: the part of `passed_s` in which the machine stood still.
TimeLimit limit_reached(double own_s, double passed_s, double halted_s, const AnswerLimits& limits);

/// Waits until `socket` can be read, or the process has ended or has reached a limit. The process goes on after a limit.
///
/// Rationale: the limits follow from the kernel's counts of all processes in the sandbox (sandbox/starved_time.hpp). The process
/// may be controlled by a submission, so nothing that it reports about its own time counts in its favour.
Waited await_answer(int socket, const Process& process, const AnswerLimits& limits);

}  // namespace hone
