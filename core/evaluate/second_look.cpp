// When to look twice, and what to believe then.
#include "evaluate/second_look.hpp"

#include <algorithm>
#include <cstdio>

#include "judge/session.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

// *Rationale:* other loads of a machine move a median by some per cent, on a bad day by a quarter;
// a look that was luck differs by what made it worth cheating for.
constexpr double kAgrees = 0.67;  // of the faster look
constexpr double kNearPhysics = 4;
constexpr std::size_t kTasksMax = 1 << 16;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string key_of(const Task& task) { return task.dataset + "/" + task.id; }

bool is_noisy(const Speedup& speedup) {
  return std::find(speedup.flags.begin(), speedup.flags.end(), "noisy") != speedup.flags.end();
}

/// Whether two measurements differ by more than their own intervals say. Rationale: nobody is called a cheat for what
/// other loads of the machine do; the slower figure counts all the same.
bool apart(const Speedup& x, const Speedup& y) {
  return (x.low > y.high || y.low > x.high) && !is_noisy(x) && !is_noisy(y);
}

enum class Agreement { kNone, kByNoise, kByValue };

/// A faster look may also be within the slower one's noise. Not the other way round: who is faster by a trick has its
/// interval as wide as it likes.
Agreement agreement(const Speedup& x, const Speedup& y) {
  const Speedup& slow = x.value <= y.value ? x : y;
  const Speedup& fast = x.value <= y.value ? y : x;
  if (slow.value >= kAgrees * fast.value) return Agreement::kByValue;
  return slow.high >= fast.value ? Agreement::kByNoise : Agreement::kNone;
}

}  // namespace

std::string SecondLook::doubt(const Task& task, const Verdict& verdict, double bytes_per_second_max,
                              bool used) const {
  if (!verdict.correct() || !verdict.speedup || verdict.speedup->value <= 1) return "";
  const double speedup = verdict.speedup->value;
  if (speedup_ > 0 && speedup >= speedup_) {
    return "a speedup of " + number(speedup) + ", at least the " + number(speedup_) +
           " that is suspect";
  }
  if ((speedup_ > 0 || factor_ > 0) &&
      beyond_physics(task, verdict.speedup->time_us * 1e-6 / kNearPhysics, bytes_per_second_max)) {
    return "a speedup of " + number(speedup) + ", near what the device can load and store";
  }
  MutexLock lock(mutex_);
  const auto found = best_.find(key_of(task));
  const double best = found == best_.end() ? 1 : found->second;  // the baseline itself was seen
  if (used && speedup > best)
    return "a new best, of " + number(speedup) + ", in a process that others have used";
  if (factor_ <= 0) return "";
  if (speedup < factor_ * best) return "";
  return "a speedup of " + number(speedup) + ", where the best so far was " + number(best);
}

void SecondLook::remember(const Task& task, const Verdict& verdict) {
  if (!verdict.correct() || !verdict.speedup) return;
  MutexLock lock(mutex_);
  if (best_.size() >= kTasksMax) best_.clear();  // then a few are looked at twice again
  double& best = best_.try_emplace(key_of(task), 1).first->second;
  best = std::max(best, verdict.speedup->value);
}

Verdict settle(Verdict first, Verdict second, bool used) {
  const bool measured = second.correct() && second.speedup.has_value();
  const Agreement agreed = measured ? agreement(*first.speedup, *second.speedup) : Agreement::kNone;
  const bool beyond_noise = measured && apart(*first.speedup, *second.speedup);
  const bool lower_first = measured && first.speedup->value < second.speedup->value;
  // Rationale: a few slow rounds of its own make the second interval as wide as a submission likes.
  const bool first_counts = !used && (lower_first || agreed == Agreement::kByValue);
  Verdict counts = first_counts ? std::move(first) : std::move(second);
  if (agreed != Agreement::kNone) {
    counts.second_look = "agreed";
    return counts;
  }
  if (counts.speedup) {
    counts.speedup->flags.push_back("second_look_disagrees");
  } else {
    counts.reason += ", in a second look";
  }
  counts.second_look = "disagreed";
  if (!used && (!measured || beyond_noise)) counts.caught = caught::kSecondLook;
  return counts;
}

}  // namespace hone
