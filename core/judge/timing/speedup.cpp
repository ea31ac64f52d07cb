#include "judge/timing/speedup.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/timing/statistics.hpp"
#include "model/caught.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

// Every bound below was chosen by judging honest kernels and attacks on quiet and busy machines (docs/adr/0025).

// Least share of the speedup of long rounds that single-call rounds may show; below it the lower figure counts.
constexpr double kSinglesDiffer = 0.95;
// Below the first share the verdict says `caught`; of a submission slower than its baseline, below the second. Modules: below
// the first share the lower figure counts.
constexpr double kSinglesDisagree = 0.80, kSlowDisagree = 0.60;
// Upper bound of the time that the first call after a freeze takes more than later ones, for code, branches and vector units,
// in honest kernels.
constexpr double kFirstCallSeconds = 20e-6;
// Widest interval, relative to the speedup, without the flag `noisy` (docs/verdicts.md; lists_test.py compares the figures). In
// a confirmation run, a run with this flag never accuses the submission (core/evaluate/confirmation.cpp).
constexpr double kNoisyWidth = 0.15;
// Largest difference of empty rounds, as a share of a round of the submission, without `floor_unsteady` (docs/verdicts.md).
constexpr double kFloorUnsteady = 0.05;
// Largest interval of the baseline's rounds alone, as a share of the widest interval allowed. Two sides that vary alike make
// an interval 1.4 times as wide as one side (docs/rewards.md).
constexpr double kBaselineShare = 0.5;

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double least_of(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// The difference that the shortest rounds can be told apart by: that of the first eighth of empty rounds. Other load makes
/// most of them longer, which says nothing about the clock.
double resolution_of(std::vector<double> floors) {
  std::sort(floors.begin(), floors.end());
  const std::size_t eighth = std::min(floors.size() - 1, 1 + floors.size() / 8);
  return std::max(floors[eighth] - floors.front(), kCallLeast);
}

/// The mean of all log ratios, none dropped.
double mean_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::log(a[i] / b[i]);
  return std::exp(sum / static_cast<double>(a.size()));
}

/// Lowers the figure and its lower end. The upper end stays, so the interval becomes wider.
void pay_at_most(Speedup& speedup, double ratio) {
  speedup.value = std::min(speedup.value, ratio);
  speedup.low = std::min(speedup.low, ratio);
}

double width_of(const Speedup& speedup) { return speedup.high - speedup.low; }

}  // namespace

/// Rationale: a change of contexts takes times that differ by more than one call of a module often takes. The least of a few
/// rounds is free of that, and a submission cannot make it less than its call takes.
SingleCallBlocks compare_single_calls(const std::vector<double>& baseline,
                                      const std::vector<double>& submission,
                                      const std::vector<double>& floors) {
  const auto spread = [](const std::vector<double>& rounds) {
    return 2 * (median(rounds) - least_of(rounds));
  };
  const double apart = std::max({spread(floors), spread(baseline), kCallLeast});
  const double a = least_of(baseline) - least_of(floors),
               b = least_of(submission) - least_of(floors);
  return {std::max(a, apart) / std::max(b, apart), b > apart};
}

/// Rationale: of several pairs with one family of inputs the best counts. Other load makes some worse, and a submission
/// cannot make any better than what one call takes.
SingleCallPairs single_speedup(const std::vector<double>& baseline,
                               const std::vector<double>& submission,
                               const std::vector<std::size_t>& families,
                               const Floor& baseline_floor, const Floor& submission_floor) {
  const double apart = std::max({baseline_floor.spread, submission_floor.spread, kCallLeast});
  std::map<std::size_t, SingleCallPairs> best;
  for (std::size_t i = 0; i < submission.size(); ++i) {
    const double a = std::max(baseline[i] - baseline_floor.seconds, apart);
    const double b = submission[i] - submission_floor.seconds;
    const double ratio = a / std::max(b, apart);
    const double high = (a + apart) / std::max(b - apart - kFirstCallSeconds, apart);
    SingleCallPairs& of_family =
        best.try_emplace(families[i], SingleCallPairs{ratio, high}).first->second;
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

SpeedupRules::SpeedupRules(const Task& task, const MeasureSettings& settings,
                           double bytes_per_second_max, std::uint64_t seed)
    : seed_(seed),
      max_interval_(settings.max_interval),
      defences_(settings.defences),
      moving_s_(settings.defences.holds(Defence::kPhysics)
                    ? least_seconds(task, bytes_per_second_max)
                    : 0),
      least_call_s_(std::max(kCallLeast, moving_s_)) {}

/// Rationale: on a busy machine the median of the empty rounds is milliseconds, and subtracting too much from both sides
/// favours the faster one.
Floor SpeedupRules::subtracted_floor(const Timings& t, bool of_baseline) const {
  const bool blocks = t.schedule == Schedule::kBlocks;
  const bool excused = of_baseline || t.excuses_submission || blocks;
  const std::vector<double>& rounds = excused ? t.floors : t.wall_floors;
  Floor floor = rounds.empty() ? t.installed_floor : floor_of(rounds);
  if (defences_.holds(Defence::kFloorInPairs) && !blocks) {
    floor.seconds = floor.least;
    if (!rounds.empty()) floor.spread = resolution_of(rounds);
  }
  return floor;
}

/// Rationale: a submission can make its own rounds vary, and must not choose that way whether it is scored or how often it is
/// measured. Rounds that a submission cuts short leave too few of the baseline's to tell.
bool SpeedupRules::is_machine_noisy(const Timings& t) const {
  if (max_interval_ <= 0 || t.on_device || t.cut_short) return false;
  const std::vector<double> rounds = per_call(t.baseline, subtracted_floor(t, true), t.calls);
  return spread_of_rounds(rounds, derive_seed(seed_, "spread")) > kBaselineShare * max_interval_;
}

bool SpeedupRules::single_rounds_show_less(const Timings& t) const {
  if (t.single_submission.empty()) return false;
  const Floor of_a = subtracted_floor(t, true), of_b = subtracted_floor(t, false);
  const Interval interval =
      speedup_of_rounds(per_call(t.baseline, of_a, t.calls), per_call(t.submission, of_b, t.calls),
                        derive_seed(seed_, "bootstrap"));
  return single_speedup(t.single_baseline, t.single_submission, t.single_families, of_a, of_b)
             .high < kSinglesDiffer * interval.low;
}

/// Rationale: the middle mean drops the slowest rounds, which may be those in which a submission pays for the others.
void SpeedupRules::count_all_rounds(const Timings& t, const std::vector<double>& baseline,
                                    const std::vector<double>& submission, Speedup& speedup) const {
  if (!defences_.holds(Defence::kFixedPairs)) return;
  speedup.low = std::min(speedup.low, mean_ratio(baseline, submission));
  if (!t.cut_short) return;
  speedup.add_flag(flags::kCutShort);
  pay_at_most(speedup, std::min(speedup.low, sum_of(baseline) / sum_of(submission)));
}

void SpeedupRules::check_floor(const Timings& t, double submission_call_s, Speedup& speedup) const {
  if (!defences_.holds(Defence::kFloorInPairs) || t.schedule == Schedule::kBlocks) return;
  const double unsteady = t.floors.empty() ? 0 : median(t.floors) - subtracted_floor(t, true).least;
  if (unsteady <= kFloorUnsteady * submission_call_s * static_cast<double>(t.calls)) return;
  speedup.add_flag(flags::kFloorUnsteady);
  speedup.low = std::min(speedup.low, median(t.baseline) / median(t.submission));
}

/// Compares with single-call rounds. True if the submission did work of several calls in the first of a round.
bool SpeedupRules::lower_to_single_rounds(const Timings& t, Speedup& speedup) const {
  if (t.single_submission.empty()) return false;
  if (t.schedule == Schedule::kBlocks) {
    const SingleCallBlocks single =
        compare_single_calls(t.single_baseline, t.single_submission, t.single_floors);
    if (single.ratio >= kSinglesDisagree * speedup.low) return false;
    speedup.add_flag(single.is_distinguishable ? flags::kSingleRoundsDisagree
                                               : flags::kBelowResolution);
    speedup.value = single.ratio;
    speedup.low = std::min(single.ratio, speedup.low);
    return single.is_distinguishable;
  }
  const SingleCallPairs single =
      single_speedup(t.single_baseline, t.single_submission, t.single_families,
                     subtracted_floor(t, true), subtracted_floor(t, false));
  const double low = speedup.low;
  if (single.high < kSinglesDiffer * low) {
    speedup.add_flag(flags::kSingleRoundsDisagree);
    pay_at_most(speedup, single.ratio);
    // Where threads of its own have to wake up, the first call of a round is slower without any trick.
    return t.excuses_submission && single.high < (low > 1 ? kSinglesDisagree : kSlowDisagree) * low;
  }
  // One call may take too little to be told from an empty round. That is no cheat, but it gains nothing either.
  if (single.ratio < kSinglesDisagree * low) {
    speedup.add_flag(flags::kBelowResolution);
    pay_at_most(speedup, single.ratio);
  }
  return false;
}

void SpeedupRules::add_flags(const Timings& t, Speedup& speedup) const {
  const Floor of_a = subtracted_floor(t, true), of_b = subtracted_floor(t, false);
  if (width_of(speedup) > kNoisyWidth * speedup.value) speedup.add_flag(flags::kNoisy);
  const double shortest =
      std::min(median(t.baseline) - of_a.seconds, median(t.submission) - of_b.seconds);
  if (shortest <= std::max(of_b.spread, least_call_s_ * static_cast<double>(t.calls)))
    speedup.add_flag(flags::kBelowResolution);
  if (is_machine_noisy(t) && width_of(speedup) > max_interval_ * speedup.value)
    speedup.add_flag(flags::kMachineNoisy);
  if (t.throttled) speedup.add_flag(flags::kThrottled);
  if (t.memory_short) speedup.add_flag(flags::kMemoryShort);
  if (t.drifted) speedup.add_flag(flags::kBaselineDrifted);
}

Judgement SpeedupRules::judge(const Timings& t) const {
  // Rationale: no floor is subtracted. An empty round on a busy machine may take longer than the calls did, which proves no
  // cheating, and gains nothing either: a call counts for at least the time that the device needs to load and store its
  // tensors.
  if (median(t.submission) / static_cast<double>(t.calls) < moving_s_)
    return cheated("a call would have moved its tensors faster than the device can load and store");
  const Floor of_a = subtracted_floor(t, true);
  const std::vector<double> a = per_call(t.baseline, of_a, t.calls, least_call_s_),
                            b = per_call(t.submission, subtracted_floor(t, false), t.calls,
                                         least_call_s_);
  const Interval interval = speedup_of_rounds(a, b, derive_seed(seed_, "bootstrap"));
  Speedup speedup;
  speedup.value = interval.value;
  speedup.low = interval.low;
  speedup.high = interval.high;
  speedup.time_us = median(b) * 1e6;
  speedup.baseline_us = median(a) * 1e6;
  speedup.floor_us = of_a.seconds * 1e6;
  speedup.marked_us = median(t.marked) * 1e6;
  speedup.rounds = static_cast<int>(b.size());
  speedup.calls = static_cast<int>(t.calls);
  count_all_rounds(t, a, b, speedup);
  check_floor(t, median(b), speedup);
  const bool cheats = lower_to_single_rounds(t, speedup);
  if (speedup.value < interval.value) speedup.time_us = speedup.baseline_us / speedup.value;
  add_flags(t, speedup);
  Judgement judged = correct_so_far();
  if (cheats) judged.verdict.caught = caught::kSingleRounds;
  judged.verdict.speedup = std::move(speedup);
  return judged;
}

}  // namespace hone
