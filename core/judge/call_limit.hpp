// The time limits of a submission's calls.
#pragma once

#include <cstddef>
#include <string>

#include "judge/runner.hpp"
#include "judge/session_input.hpp"

namespace hone {

struct CallLimit {
  double seconds = 0;
  std::string reason = {};  ///< for the author; empty: the task's run_seconds
};

/// The limit of a round of `calls` calls at the timed shape, or at a shape that has no more elements. It is the task's
/// run_seconds. For code that only a device runs it is also the task's slowdown_max times the baseline's time, but at least
/// kSlowCallSeconds for a call. Rationale: while it runs, no other submission can be measured on the device.
CallLimit call_limit(const SessionInput& input, std::size_t calls = 1);
inline constexpr double kSlowCallSeconds = 1;

/// The round. If it was over this limit, its message is the reason.
Round with_reason(Round round, const CallLimit& limit);

}  // namespace hone
