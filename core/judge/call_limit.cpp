#include "judge/call_limit.hpp"

#include <algorithm>
#include <cstdio>

namespace hone {
namespace {

bool is_nowhere_larger(const Dims& dims, const Dims& than) {
  return std::all_of(dims.begin(), dims.end(), [&](const auto& dim) {
    const auto found = than.find(dim.first);
    return found != than.end() && dim.second <= found->second;
  });
}

}  // namespace

/// Rationale: host code of a submission may compile and choose algorithms in its first call, which takes seconds.
CallLimit call_limit(const SessionInput& input, const Dims& dims, std::size_t calls,
                     bool is_first) {
  const Task& task = input.task;
  const bool only_device_code =
      input.workbench.placement() == Placement::kDevice && !input.submission.withholds_inputs();
  if (!only_device_code || task.slowdown_max <= 0 || !is_nowhere_larger(dims, task.timed))
    return {task.run_seconds};
  const auto count = static_cast<double>(calls);
  const double baseline_s = count * input.baseline.call_seconds;
  const double added_s = count * input.settings.added_call_seconds +
                         (is_first ? input.settings.added_first_seconds : 0);
  const double limit_s =
      std::max(count * kSlowCallSeconds, task.slowdown_max * baseline_s) + added_s;
  if (baseline_s <= 0 || limit_s >= task.run_seconds) return {task.run_seconds};
  const std::string how_many = calls > 1 ? std::to_string(calls) + " calls" : "one call";
  char text[160];
  std::snprintf(text, sizeof text,
                "over %.3g s for %s (at the timed shape the baseline takes %.3g ms)", limit_s,
                how_many.c_str(), baseline_s * 1e3);
  return {limit_s, text};
}

Round with_reason(Round round, const CallLimit& limit) {
  if (round.ending == Ending::kTimedOut && round.message.empty()) round.message = limit.reason;
  return round;
}

}  // namespace hone
