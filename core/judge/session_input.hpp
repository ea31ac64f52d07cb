// SessionInput: all that a session judges with.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.hpp"
#include "judge/installed.hpp"
#include "judge/runner.hpp"
#include "judge/workbench.hpp"
#include "judge_protocol/calls.hpp"
#include "judge_protocol/settings.hpp"
#include "model/task.hpp"

namespace hone {

/// What a session tells and asks the host.
struct SessionHost {
  std::function<void(JudgeStage)> progress;  ///< hears that a stage begins

  // On a device:
  /// `quiet` waits for exclusive use of the device, without new contexts. `share` ends that, and returns once no other judge
  /// measures. During both calls the submission runs nothing.
  std::function<Status()> quiet = nullptr, share = nullptr;
  /// Lets other judges measure if any of them waits for that. Meanwhile nothing of this judge runs on the device.
  std::function<Status()> give_way = nullptr;
  /// Whether the device is still, besides the judge's own work.
  std::function<bool()> is_device_still = nullptr;
  /// `end` ends the submission; `ended` returns once nothing of it is left.
  std::function<void()> end = nullptr;
  std::function<Status()> ended = nullptr;
};

/// One submission of one task. What it refers to outlives it.
struct SessionInput {
  const Task& task;
  std::uint64_t seed;
  MeasureSettings settings;
  DatasetRunner reference, baseline;
  Runner& submission;
  Workbench& workbench;
  SessionHost host;
  /// The clock of limits and pauses, in seconds. Rounds are timed by their runners.
  std::function<double()> now_s = monotonic_s;

  bool holds(Defence defence) const { return settings.defences.holds(defence); }
};

}  // namespace hone
