#include "judge/call_limit.hpp"

#include <algorithm>
#include <cstdio>

namespace hone {

/// Rationale: host code of a submission may compile and choose algorithms in its first call, which takes seconds.
CallLimit call_limit(const SessionInput& input, std::size_t calls) {
  const Task& task = input.task;
  const bool only_device_code =
      input.workbench.placement() == Placement::kDevice && !input.submission.withholds_inputs();
  if (!only_device_code || task.slowdown_max <= 0) return {task.run_seconds};
  const auto count = static_cast<double>(calls);
  const double baseline_s = count * input.baseline.call_seconds;
  const double limit_s = std::max(count * kSlowCallSeconds, task.slowdown_max * baseline_s);
  if (baseline_s <= 0 || limit_s >= task.run_seconds) return {task.run_seconds};
  char text[120];
  std::snprintf(text, sizeof text, "over %.3g s%s, which is %.0f times the baseline's time",
                limit_s, calls > 1 ? " for several calls" : " for one call", limit_s / baseline_s);
  return {limit_s, text};
}

Round with_reason(Round round, const CallLimit& limit) {
  if (round.ending == Ending::kTimedOut && round.message.empty()) round.message = limit.reason;
  return round;
}

}  // namespace hone
