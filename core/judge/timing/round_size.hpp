// The calls of a round, and the memory that rounds need.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "judge/installed.hpp"
#include "judge/plans.hpp"
#include "judge_protocol/settings.hpp"
#include "model/task.hpp"

namespace hone {

/// Calls of a round, from the time of one call.
std::size_t round_calls(const Task& task, const MeasureSettings& settings, double call_seconds);
/// The same for one measurement. On a device fewer if the reference's answers take far longer than the round.
std::size_t round_calls(const Task& task, const MeasureSettings& settings,
                        const Calibration& baseline);
/// The arena bytes that a runner of this task needs; `exact`: the reference's. `call_seconds`: of the baseline, 0 while
/// unknown (then enough for the longest round there may be).
Result<std::uint64_t> arena_bytes(const Task& task, const MeasureSettings& settings, bool exact,
                                  double call_seconds, const Plans& plans);

}  // namespace hone
