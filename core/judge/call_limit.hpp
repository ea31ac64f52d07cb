// The time limits of a submission's calls.
#pragma once

#include <cstddef>
#include <string>

#include "judge/runner.hpp"
#include "judge/session_input.hpp"

namespace hone {

struct CallLimit {
  double seconds = 0;
  std::string reason = {};  ///< for the author; empty if run_seconds applies
};

/// The limit of a round of `calls` calls at `dims`. It is the task's run_seconds. For code that runs only on the device, it is at
/// most the larger of slowdown_max times the baseline's time and kSlowCallSeconds for each call, plus the time that the
/// settings add. This needs a shape that is nowhere larger than the timed one, where the baseline's time is known. Rationale:
/// while the round runs, no other submission can be measured on the device.
CallLimit call_limit(const SessionInput& input, const Dims& dims, std::size_t calls,
                     bool is_first = false);

/// The round. If it timed out without a message: with the reason.
Round with_reason(Round round, const CallLimit& limit);

}  // namespace hone
