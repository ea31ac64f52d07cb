#include "judge/timing/processes/withheld_timer.hpp"

namespace hone {
namespace {

// How long the device moves memory after a short pause, and after a long one; which pauses count. A device that was idle for
// some milliseconds is slower until it has been busy for about three (workbench.hpp).
constexpr double kBusySeconds = 1e-3, kBusyAfterPauseSeconds = 3e-3;
constexpr double kPauseSeconds = 2e-3, kShortPauseSeconds = 0.3e-3;

}  // namespace

Status WithheldTimer::make_busy(double seconds) {
  HONE_TRY(m_.input.workbench.make_busy(seconds));
  idle_since_s_ = m_.input.now_s();
  return {};
}

Status WithheldTimer::check_device(double seconds) {
  HONE_TRY(m_.contention.check_device(seconds));
  idle_since_s_ = m_.input.now_s();
  return {};
}

Status WithheldTimer::keep_busy() {
  const double idle_s = m_.input.now_s() - idle_since_s_;
  if (idle_s < kShortPauseSeconds) return {};
  return make_busy(idle_s > kPauseSeconds ? kBusyAfterPauseSeconds : kBusySeconds);
}

/// Rationale: a process that has slept is slower by a tenth of a millisecond and more. So both sides have just done nothing,
/// and then the judge has had the device, longer where it was idle. A submission is shown no inputs for that.
Judgement WithheldTimer::wake(const Side& side, const PreparedRound& prepared) {
  // First of all: once a submission has its order it gets as little time as possible before the clock starts.
  if (const Status busy = keep_busy(); !busy) return fault(busy.error());
  if (side.is_baseline()) {
    if (Judgement loaded = m_.clock.load(side, prepared); !passed(loaded)) return loaded;
    if (trimmed_) {
      const Round warm =
          side.runner.timed_round(Order::kRun, prepared.set.calls(), side.limit.seconds);
      if (warm.ending != Ending::kDone) return blame(warm, side.culprit, {Place::kMeasurement});
      trimmed_ = false;
      if (Judgement loaded = m_.clock.load(side, prepared); !passed(loaded)) return loaded;
    }
  } else {
    side.runner.forget_inputs();
  }
  if (Judgement empty = m_.clock.empty_round(side); !passed(empty)) return empty;
  if (Judgement loaded = m_.clock.load(side, prepared); !passed(loaded)) return loaded;
  const Status cold = m_.clock.make_cold(prepared.layout);
  return cold ? correct_so_far() : fault(cold.error());
}

Judgement WithheldTimer::time(const Side& side, const PreparedRound& prepared, double* seconds) {
  if (Judgement woken = wake(side, prepared); !passed(woken)) return woken;
  Judgement judged = m_.clock.run(side, prepared, seconds);
  idle_since_s_ = m_.input.now_s();
  return judged;
}

Judgement WithheldTimer::trim_baseline() {
  Runner* baseline = m_.input.baseline.runner;
  if (baseline == m_.input.reference.runner || !baseline->withholds_inputs())
    return correct_so_far();
  const Round trimmed = baseline->trim();
  trimmed_ = true;
  return trimmed.ending == Ending::kDone
             ? correct_so_far()
             : blame(trimmed, Culprit::kBaseline, {Place::kMeasurement});
}

}  // namespace hone
