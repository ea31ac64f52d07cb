// From the times of rounds to a speedup.
//
// Theory of operation. A submission decides how long its own rounds take, so slower rounds must never help it. The number
// of rounds is planned from the baseline's time. Outliers lower the interval's lower end. What is subtracted from a round is
// the least empty round of the baseline's process. Where a figure is uncertain, a flag says so, and rewards pay the lower
// end.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

// Rounds of one call may show this share of the speedup of long rounds; below it the lower figure counts.
constexpr double kSinglesDiffer = 0.95;
// Below this share the verdict says `caught`; of a submission slower than its baseline, below the second.
constexpr double kSinglesDisagree = 0.80, kSlowDisagree = 0.60;
// What the first call after a freeze may take more than later ones, for code, branches and vector units. Hardware does
// that to honest kernels.
constexpr double kFirstCallSeconds = 20e-6;
constexpr double kNoisyWidth = 0.15;  // of the interval, relative
// Rounds that do nothing may differ by this share of a round of the submission.
constexpr double kFloorUnsteady = 0.05;
constexpr double kCallLeast = 1e-9;  // seconds
// A machine is too noisy if the interval of the baseline's rounds alone exceeds this share of the widest interval allowed.
// Two sides that vary alike make an interval 1.4 times as wide as one side.
constexpr double kBaselineShare = 0.5;

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// How well the shortest rounds are told apart: what the first eighth of those that did nothing differ by. Other loads of the
/// machine make most of them longer, which says nothing of the clock.
double resolution_of(std::vector<double> nothing) {
  std::sort(nothing.begin(), nothing.end());
  const std::size_t eighth = std::min(nothing.size() - 1, 1 + nothing.size() / 8);
  return std::max(nothing[eighth] - nothing.front(), kCallLeast);
}

/// The mean of all log ratios, none dropped.
double mean_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::log(a[i] / b[i]);
  return std::exp(sum / static_cast<double>(a.size()));
}

void add_flag(Speedup& speedup, const char* flag) {
  if (std::find(speedup.flags.begin(), speedup.flags.end(), flag) == speedup.flags.end())
    speedup.flags.emplace_back(flag);
}

/// Lowers the figure and its lower end.
void pay_at_most(Speedup& speedup, double ratio) {
  speedup.value = std::min(speedup.value, ratio);
  speedup.low = std::min(speedup.low, ratio);
}

}  // namespace

double per_call(double seconds, const Floor& floor, std::size_t calls, double least) {
  const auto count = static_cast<double>(calls);
  return std::max({seconds - floor.seconds, floor.spread, least * count}) / count;
}

std::vector<double> per_call(const std::vector<double>& rounds, const Floor& floor,
                             std::size_t calls, double least) {
  std::vector<double> each;
  each.reserve(rounds.size());
  for (const double seconds : rounds) each.push_back(per_call(seconds, floor, calls, least));
  return each;
}

Floor floor_of(const std::vector<double>& rounds) {
  std::vector<double> sorted = rounds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t quarter = sorted.size() / 4;
  return {median(sorted), sorted.front(),
          2 * (sorted[sorted.size() - 1 - quarter] - sorted[quarter])};
}

/// Rationale: what a change of contexts takes differs by more than one call of a module often does. The least of a few
/// rounds is free of that, and nobody can make it less than the call takes.
Singles compare_singles(const std::vector<double>& baseline, const std::vector<double>& submission,
                        const std::vector<double>& nothing) {
  const auto least = [](const std::vector<double>& rounds) {
    return *std::min_element(rounds.begin(), rounds.end());
  };
  const auto spread = [&](const std::vector<double>& rounds) {
    return 2 * (median(rounds) - least(rounds));
  };
  const double apart = std::max({spread(nothing), spread(baseline), 1e-9});
  const double a = least(baseline) - least(nothing), b = least(submission) - least(nothing);
  return {std::max(a, apart) / std::max(b, apart), b > apart};
}

/// Rationale: of several pairs with one family of inputs the best counts. Other loads make some worse, and a submission
/// cannot make any better than what one call takes.
SingleSpeedup single_speedup(const std::vector<double>& baseline,
                             const std::vector<double>& submission,
                             const std::vector<std::size_t>& families, const Floor& baseline_floor,
                             const Floor& submission_floor) {
  const double apart = std::max({baseline_floor.spread, submission_floor.spread, kCallLeast});
  std::map<std::size_t, SingleSpeedup> best;
  for (std::size_t i = 0; i < submission.size(); ++i) {
    const double a = std::max(baseline[i] - baseline_floor.seconds, apart);
    const double b = submission[i] - submission_floor.seconds;
    const double ratio = a / std::max(b, apart);
    const double high = (a + apart) / std::max(b - apart - kFirstCallSeconds, apart);
    SingleSpeedup& of_family =
        best.try_emplace(families[i], SingleSpeedup{ratio, high}).first->second;
    of_family = {std::max(of_family.ratio, ratio), std::max(of_family.high, high)};
  }
  double ratios = 0, highs = 0;
  for (const auto& [family, one] : best) {
    ratios += std::log(one.ratio);
    highs += std::log(one.high);
  }
  const auto count = static_cast<double>(best.size());
  return {std::exp(ratios / count), std::exp(highs / count)};
}

double least_seconds(const Task& task, double bytes_per_second_max) {
  double bytes = 0;
  for (const Tensor& tensor : task.tensors) {
    const auto count = element_count(tensor, task.timed);
    if (count) bytes += static_cast<double>(*count) * static_cast<double>(dtype_size(tensor.dtype));
  }
  return bytes / bytes_per_second_max;
}

bool beyond_physics(const Task& task, double call_seconds, double bytes_per_second_max) {
  return call_seconds < least_seconds(task, bytes_per_second_max);
}

/// What is subtracted from a round of one side. Rationale: on a busy machine the median of the empty rounds is milliseconds,
/// and subtracting too much from both sides favours the faster one.
Floor Session::subtracted_floor(bool of_baseline) const {
  const bool excused = of_baseline || excuses_submission() || alone();
  const std::vector<double>& rounds = excused ? measured_.floors : measured_.wall_floors;
  Floor floor = rounds.empty() ? baseline_.floor : floor_of(rounds);
  if (settings_.defences.holds(Defence::kFloorInPairs) && !alone()) {
    floor.seconds = floor.least;
    if (!rounds.empty()) floor.spread = resolution_of(rounds);
  }
  return floor;
}

/// Whether the baseline's own rounds vary too much to measure a speedup (on the processor only). Rationale: a submission can
/// make its own rounds vary, and must not choose that way whether it is scored or how often it is measured. Rounds that a
/// submission cuts short leave too few of the baseline's to tell.
bool Session::is_machine_noisy() const {
  const Measured& m = measured_;
  if (settings_.max_interval <= 0 || workbench_.placement() == Placement::kDevice) return false;
  if (m.cut_short) return false;
  const std::vector<double> rounds = per_call(m.a, subtracted_floor(true), m.calls);
  return spread_of_rounds(rounds, derive_seed(seed_, "spread")) >
         kBaselineShare * settings_.max_interval;
}

bool Session::singles_differ() const {
  const Measured& m = measured_;
  if (m.singles_b.empty()) return false;
  const Floor of_a = subtracted_floor(true), of_b = subtracted_floor(false);
  const Interval interval = speedup_of_rounds(
      per_call(m.a, of_a, m.calls), per_call(m.b, of_b, m.calls), derive_seed(seed_, "bootstrap"));
  return single_speedup(m.singles_a, m.singles_b, m.single_families, of_a, of_b).high <
         kSinglesDiffer * interval.low;
}

/// Compares with rounds of one call. True if the submission did work of several calls in the first of a round.
bool Session::lower_to_singles(Speedup& speedup) const {
  const Measured& m = measured_;
  if (m.singles_b.empty()) return false;
  if (alone()) {
    const Singles singles = compare_singles(m.singles_a, m.singles_b, m.single_floors);
    if (singles.ratio >= kSinglesDisagree * speedup.low) return false;
    add_flag(speedup, singles.told_apart ? "single_rounds_disagree" : "below_resolution");
    speedup.value = singles.ratio;
    speedup.low = std::min(singles.ratio, speedup.low);
    return singles.told_apart;
  }
  const SingleSpeedup single = single_speedup(m.singles_a, m.singles_b, m.single_families,
                                              subtracted_floor(true), subtracted_floor(false));
  const double low = speedup.low;
  if (single.high < kSinglesDiffer * low) {
    add_flag(speedup, "single_rounds_disagree");
    pay_at_most(speedup, single.ratio);
    // Where threads of its own have to wake up, the first call of a round is slower without any trick.
    return excuses_submission() && single.high < (low > 1 ? kSinglesDisagree : kSlowDisagree) * low;
  }
  // What one call takes may be too little to be told: then it is no cheat, but no gain is given for it either.
  if (single.ratio < kSinglesDisagree * low) {
    add_flag(speedup, "below_resolution");
    pay_at_most(speedup, single.ratio);
  }
  return false;
}

Judgement Session::judge_times() {
  const Measured& m = measured_;
  const Floor floor_a = subtracted_floor(true), floor_b = subtracted_floor(false);
  double least = kCallLeast;
  if (settings_.defences.holds(Defence::kPhysics)) {
    const double most = workbench_.bytes_per_second_max(task_);
    least = std::max(least, least_seconds(task_, most));
    // Rationale: nothing is taken off. What a round that does nothing took while the machine was busy may be more than the
    // calls took, and nobody is called a cheat for that; but nobody is paid for it either: a call counts for no less than
    // the device takes to load and store its tensors.
    if (beyond_physics(task_, median(m.b) / static_cast<double>(m.calls), most))
      return cheated(
          "a call would have moved its tensors faster than the device can load and store");
  }
  const std::vector<double> a = per_call(m.a, floor_a, m.calls, least),
                            b = per_call(m.b, floor_b, m.calls, least);
  const Interval interval = speedup_of_rounds(a, b, derive_seed(seed_, "bootstrap"));
  Speedup speedup;
  speedup.value = interval.value;
  speedup.low = interval.low;
  speedup.high = interval.high;
  speedup.time_us = median(b) * 1e6;
  speedup.baseline_us = median(a) * 1e6;
  speedup.floor_us = floor_a.seconds * 1e6;
  speedup.marked_us = median(m.marked) * 1e6;
  speedup.rounds = static_cast<int>(b.size());
  speedup.calls = static_cast<int>(m.calls);
  if (settings_.defences.holds(Defence::kFixedPairs)) {
    // Rationale: the middle mean drops the slowest rounds, which may be those in which a submission pays for the others.
    speedup.low = std::min(speedup.low, mean_ratio(a, b));
    if (m.cut_short) {
      add_flag(speedup, "cut_short");
      pay_at_most(speedup, std::min(speedup.low, sum_of(a) / sum_of(b)));
    }
  }
  const double unsteady = m.floors.empty() ? 0 : median(m.floors) - floor_a.least;
  if (settings_.defences.holds(Defence::kFloorInPairs) && !alone() &&
      unsteady > kFloorUnsteady * median(b) * static_cast<double>(m.calls)) {
    add_flag(speedup, "floor_unsteady");
    speedup.low = std::min(speedup.low, median(m.a) / median(m.b));
  }
  const bool cheats = lower_to_singles(speedup);
  if (speedup.value < interval.value) speedup.time_us = speedup.baseline_us / speedup.value;
  if (speedup.high - speedup.low > kNoisyWidth * speedup.value) add_flag(speedup, "noisy");
  const double shortest = std::min(median(m.a) - floor_a.seconds, median(m.b) - floor_b.seconds);
  if (shortest <= std::max(floor_b.spread, least * static_cast<double>(m.calls)))
    add_flag(speedup, "below_resolution");
  if (is_machine_noisy() && speedup.high - speedup.low > settings_.max_interval * speedup.value)
    add_flag(speedup, kMachineNoisy);
  if (m.throttled) add_flag(speedup, "throttled");
  if (is_short_of_memory()) add_flag(speedup, "memory_short");
  if (m.drifted) add_flag(speedup, "baseline_drifted");
  Judgement judged = correct_so_far();
  if (cheats) judged.verdict.caught = caught::kSingleRounds;
  judged.verdict.speedup = std::move(speedup);
  return judged;
}

}  // namespace hone
