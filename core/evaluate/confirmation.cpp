// The rules for a confirmation run, and for the run that counts.
#include "evaluate/confirmation.hpp"

#include <cstdio>

#include "judge/timing/round_times.hpp"
#include "model/caught.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

// Rationale: other load changes a median by some per cent, and sometimes by a quarter. A lucky run of a
// cheating submission differs by more.
constexpr double kAgrees = 0.67;  // smallest ratio of the slower to the faster speedup
constexpr double kNearPhysics = 4;
constexpr std::size_t kTasksMax = 1 << 16;
// A new best is at least this multiple of the one before. Rationale: half of all copies of a baseline are a little faster than
// it, by noise, and a confirmation run takes as long as the evaluation.
constexpr double kNewBest = 1.02;
// At this multiple of the best, a speedup is a new best even if the intervals overlap. Rationale: a submission can make its own
// interval wide.
constexpr double kClearBest = 1.1;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string key_of(const Task& task) { return task.dataset + "/" + task.id; }

/// Whether two measurements differ by more than their intervals. Rationale: other load must not turn an
/// honest submission into a cheat; the slower figure counts in any case.
bool apart(const Speedup& x, const Speedup& y) {
  return (x.low > y.high || y.low > x.high) && !x.has_flag(flags::kNoisy) &&
         !y.has_flag(flags::kNoisy);
}

enum class Agreement { kNone, kByNoise, kByValue };

/// The faster run may also be within the noise of the slower one. The reverse is not accepted, because a
/// submission that is faster by a trick can make its own interval wide.
Agreement agreement(const Speedup& x, const Speedup& y) {
  const Speedup& slow = x.value <= y.value ? x : y;
  const Speedup& fast = x.value <= y.value ? y : x;
  if (slow.value >= kAgrees * fast.value) return Agreement::kByValue;
  return slow.high >= fast.value ? Agreement::kByNoise : Agreement::kNone;
}

/// The verdict of two runs.
Verdict settle(Verdict first, Verdict second, bool kept_process) {
  const bool measured = second.correct() && second.speedup.has_value();
  const Agreement agreed = measured ? agreement(*first.speedup, *second.speedup) : Agreement::kNone;
  const bool beyond_noise = measured && apart(*first.speedup, *second.speedup);
  const bool lower_first = measured && first.speedup->value < second.speedup->value;
  // Rationale: a submission can widen the second interval with a few slow rounds.
  const bool first_counts = !kept_process && (lower_first || agreed == Agreement::kByValue);
  Verdict counts = first_counts ? std::move(first) : std::move(second);
  if (agreed != Agreement::kNone) {
    counts.second_look = "agreed";
    return counts;
  }
  if (counts.speedup) {
    counts.speedup->add_flag(flags::kSecondLookDisagrees);
  } else {
    counts.reason += ", in a confirmation run";
  }
  counts.second_look = "disagreed";
  if (!kept_process && (!measured || beyond_noise)) counts.caught = caught::kSecondLook;
  return counts;
}

}  // namespace

/// Rationale: short calls vary by more than 2 % from one measurement to the next.
bool Suspicions::Best::is_exceeded_by(const Speedup& speedup) const {
  return speedup.value >= kClearBest * value ||
         (speedup.value >= kNewBest * value && speedup.low > high);
}

std::string Suspicions::doubt(const Task& task, const Verdict& verdict, double bytes_per_second_max,
                              bool kept_process) const {
  if (!verdict.correct() || !verdict.speedup || verdict.speedup->value <= 1) return "";
  const double speedup = verdict.speedup->value;
  if (speedup_ > 0 && speedup >= speedup_) {
    return "a speedup of " + number(speedup) + ", at least the " + number(speedup_) +
           " that is suspect";
  }
  MutexLock lock(mutex_);
  const auto found = best_.find(key_of(task));
  const Best best = found == best_.end() ? Best() : found->second;
  const bool is_new_best = best.is_exceeded_by(*verdict.speedup);
  // Rationale: good code for a task that only moves memory is always near this limit, and so is its baseline.
  if ((speedup_ > 0 || factor_ > 0) && is_new_best &&
      beyond_physics(task, verdict.speedup->time_us * 1e-6 / kNearPhysics, bytes_per_second_max)) {
    return "a new best, of " + number(speedup) + ", near what the device can load and store";
  }
  if (kept_process && is_new_best)
    return "a new best, of " + number(speedup) +
           ", in a process that earlier submissions have used";
  if (factor_ <= 0) return "";
  if (speedup < factor_ * best.value) return "";
  return "a speedup of " + number(speedup) + ", where the best so far was " + number(best.value);
}

void Suspicions::remember(const Task& task, const Verdict& verdict) {
  if (!verdict.correct() || !verdict.speedup) return;
  MutexLock lock(mutex_);
  if (best_.size() >= kTasksMax)
    best_.clear();  // afterwards some tasks get one more confirmation run
  Best& best = best_[key_of(task)];
  // A smaller gain does not raise the best. Otherwise many small gains could raise it without a confirmation run.
  if (best.is_exceeded_by(*verdict.speedup)) best = {verdict.speedup->value, verdict.speedup->high};
}

Verdict final_verdict(Verdict first, std::optional<Verdict> confirmation, bool kept_process) {
  if (!confirmation) return first;
  return settle(std::move(first), std::move(*confirmation), kept_process);
}

}  // namespace hone
