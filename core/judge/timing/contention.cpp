#include "judge/timing/contention.hpp"

#include <numeric>
#include <utility>

#include "judge/blame.hpp"

namespace hone {
namespace {

// Most throttled pairs that are dropped. With more the device is measured as it is, with a flag (docs/verdicts.md).
constexpr int kDroppedMax = 3;
// Longest stop of the machine within a round that counts (seconds). Chosen: far over the delays of a busy core, which
// excused_s() subtracts, and below the stop of a virtual machine that is suspended or moved.
constexpr double kHaltedSeconds = 0.1;
// Largest slowdown by other work in one check and in all together; without other work 0.03 was measured
// (docs/modules-reference.md).
constexpr double kSlowdownMax = 0.15, kMeanSlowdownMax = 0.08;
// Longest time, by the judge's clock, that the device may have been away before a check (seconds). Chosen: half of a time
// slice of a device, which is about 2 ms (kCheckSeconds in baseline_between.cpp).
constexpr double kAwaySeconds = 1e-3;
// The slowdown that is noted for a check with other work: no number of other checks makes up for it.
constexpr double kOtherWork = 1e3;

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

/// Rationale: a process may have left work on the device that goes on, or begins later.
Judgement Contention::expect_still_device() const {
  const auto& is_device_still = input_.host.is_device_still;
  if (is_device_still == nullptr || !input_.holds(Defence::kStandStill)) return correct_so_far();
  return is_device_still() ? correct_so_far() : busy_device();
}

Status Contention::check_device(double seconds) {
  HONE_ASSIGN(const Workbench::DeviceContention found,
              input_.workbench.measure_contention(seconds));
  const bool other_work =
      found.slowdown == 0 || found.slowdown > 1 + kSlowdownMax || found.away_s > kAwaySeconds;
  slowdowns_.push_back(other_work ? kOtherWork : found.slowdown);
  return {};
}

bool Contention::device_was_shared() const {
  const double sum = std::accumulate(slowdowns_.begin(), slowdowns_.end(), 0.0);
  return sum > (1 + kMeanSlowdownMax) * static_cast<double>(slowdowns_.size());
}

}  // namespace hone
