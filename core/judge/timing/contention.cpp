#include "judge/timing/contention.hpp"

#include <utility>

#include "judge/blame.hpp"

namespace hone {
namespace {

// Most throttled pairs that are dropped. With more the device is measured as it is, with a flag (docs/verdicts.md).
constexpr int kDroppedMax = 3;
// Longest stop of the machine within a round that counts (seconds).
constexpr double kHaltedSeconds = 0.1;

}  // namespace

bool excuses_submission(const Task& task) { return task.threads == 1; }

/// Rationale: on a busy machine a long round is delayed more often than a short one, so that fast kernels looked faster than
/// they are.
double Contention::excused_s(bool of_baseline, const Round& round) const {
  if (!input_.holds(Defence::kFloorInPairs)) return 0;
  return of_baseline || excuses_submission(input_.task) ? round.delayed_seconds : 0;
}

void Contention::note(const Round& round) {
  halted_ = halted_ || round.halted_seconds > kHaltedSeconds;
}

/// Rationale: a whole pair, so that neither side can lose only its bad rounds. Few pairs, so that a device that is always
/// throttled is still measured.
Result<bool> Contention::must_drop_pair(Timings& timings) {
  if (std::exchange(halted_, false)) return true;
  HONE_ASSIGN(const bool throttled, input_.workbench.throttled());
  if (!throttled) return false;
  if (dropped_ == kDroppedMax) {
    timings.throttled = true;
    return false;
  }
  ++dropped_;
  return true;
}

/// Rationale: a process that is frozen may have left work on the device that goes on, or begins later.
Judgement Contention::expect_still_device() const {
  const auto& is_device_still = input_.host.is_device_still;
  if (is_device_still == nullptr || !input_.holds(Defence::kStandStill)) return correct_so_far();
  return is_device_still() ? correct_so_far() : busy_device();
}

}  // namespace hone
