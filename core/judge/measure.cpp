// The measuring half of a session: A·B B·A A·B … with fresh secret inputs in every pair, every
// timed output checked.
//
// Theory of operation. A is the baseline, B the submission, each in its own process with its own
// arena; both are frozen but for the round under the clock. Before a pair the judge makes new
// inputs; before a round it copies them to its side and poisons the outputs. B stands frozen until
// its outputs have been compared, which comes after both rounds: what runs before a round (the
// reference above all) changes caches and with them the time, by a third where it was measured, so
// both sides must come right after the same work, and in turns. Rounds hold as many calls as take
// some milliseconds, so that the cost of freezing (the floor, measured with a round that does
// nothing) is small; rounds of one call must show the same speedup, or a submission that does a
// round's work in its first call would gain by it.
#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

constexpr double kSinglesDisagree =
    0.80;  // rounds of one call may show so much less of the speedup before they count
constexpr double kNoisyWidth = 0.15;  // of the interval, relative
constexpr int kPairsLeast = 3;        // even for a submission that is far slower than its baseline,
constexpr double kPatience = 4;       // after so many times the time that a measurement should take
constexpr int kDroppedMax = 3;
constexpr double kCallLeast = 1e-9;  // seconds
constexpr double kAnswerShare = 4;   // limit of the time for the answers of one round, in rounds

Result<std::uint64_t> call_bytes(const Task& task, bool exact) {
  HONE_ASSIGN(const Layout one, lay_out(task, task.timed, 1, Placement::kDevice, exact));
  return one.total;
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

std::size_t round_calls(const Task& task, const MeasureSettings& settings, double call_seconds) {
  const auto bytes = call_bytes(task, true);
  const double fit =
      bytes ? static_cast<double>(settings.set_mb << 20) / static_cast<double>(*bytes) : 1;
  const double wanted = std::ceil(settings.round_ms * 1e-3 / std::max(call_seconds, 1e-9));
  return static_cast<std::size_t>(
      std::clamp(std::min(fit, wanted), 1.0, static_cast<double>(kCallsMax)));
}

Result<std::uint64_t> arena_bytes(const Task& task, const MeasureSettings& settings, bool exact,
                                  double call_seconds, const Plans& plans) {
  HONE_ASSIGN(const std::uint64_t one, call_bytes(task, exact));
  // Rationale: a plan that cannot be at a shape is found when the shape is run, and is its author's.
  const auto scratch = [&](const Dims& dims) {
    const auto needed = plans.scratch_bytes(dims);
    return needed ? *needed : std::uint64_t{0};
  };
  std::uint64_t bytes = one * round_calls(task, settings, call_seconds) + scratch(task.timed);
  std::vector<Dims> shapes = task.shown;
  for (const HiddenShape& hidden : task.hidden) {
    Dims largest;
    for (const auto& [dim, range] : hidden.ranges) largest[dim] = range.second;
    shapes.push_back(std::move(largest));
  }
  for (const Dims& dims : shapes) {
    for (const Placement placement : {Placement::kDevice, Placement::kGuards}) {
      HONE_ASSIGN(const Layout layout, lay_out(task, dims, 1, placement, exact));
      bytes = std::max(bytes, layout.total + scratch(dims));
    }
  }
  return bytes;
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

/// Rationale: what a round leaves in the caches, dirty above all, slows the next one by a tenth and more.
Status Session::make_cold(const Layout& layout) {
  if (task_.cache_warm) return {};
  return workbench_.make_cold(baseline_.runner->arena(), submission_.arena(), layout.total);
}

/// A round that does nothing. Rationale: what a look costs depends on where it looks. The baseline's is the floor, for
/// what a submission's process does is never subtracted.
Judgement Session::nothing_round(const Side& side) {
  const Round nothing = side.runner.timed_round(Order::kNothing, 0, side.limit_s);
  if (nothing.ending != Ending::kDone) return blame(nothing, side.culprit, "a measurement");
  if (&side.runner == baseline_.runner) measured_.floors.push_back(nothing.seconds);
  return correct_so_far();
}

Judgement Session::round(const Side& side, const InputSet& set, const Layout& layout,
                         double* seconds) {
  if (side.runner.withholds()) {
    if (Judgement woken = wake(side, set, layout); !passed(woken)) return woken;
  } else {
    if (Judgement loaded =
            load(set, side.runner, layout, side.secret, side.culprit, "a measurement");
        !passed(loaded))
      return loaded;
    if (const Status cold = make_cold(layout); !cold) return fault(cold.error());
    if (workbench_.placement() == Placement::kDevice) {
      if (Judgement nothing = nothing_round(side); !passed(nothing)) return nothing;
    }
  }
  const bool is_baseline = &side.runner == baseline_.runner;
  const Order run = settings_.marked && is_baseline ? Order::kMarked : Order::kRun;
  const Round round = side.runner.timed_round(run, set.calls(), side.limit_s);
  idle_since_s_ = monotonic_s();
  if (is_baseline)
    measured_.marked.push_back(round.marked_seconds / static_cast<double>(set.calls()));
  *seconds = round.seconds;
  return round.ending == Ending::kDone ? correct_so_far()
                                       : blame(round, side.culprit, "a measurement");
}

/// The calls of a timed round, with inputs of that secret; what hides them in an arena is its side's.
Result<Session::Posed> Session::pose_timed(std::uint64_t secret, std::size_t calls,
                                           std::uint64_t at) {
  HONE_ASSIGN(InputSet set, InputSet::make(task_, task_.timed, 0, calls, secret, *reference_.runner,
                                           workbench_, settings_.defences, {at, 0}));
  HONE_ASSIGN(Layout layout, lay_out(task_, task_.timed, calls, workbench_.placement(), false));
  const std::uint64_t end = layout.total;
  return Posed{{task_.timed, false, 0, Placement::kCanaries},
               secret,
               std::move(layout),
               std::move(set),
               end};
}

Judgement Session::pair(std::size_t number, std::size_t calls, bool baseline_first, double* a,
                        double* b) {
  const bool fresh = settings_.defences.holds(Defence::kFreshInputs);
  const std::uint64_t secret = derive_seed(seed_, "pair", fresh ? number : 0);
  auto posed = pose_timed(secret, calls);
  if (!posed) return fault(posed.error());
  const Side baseline{*baseline_.runner, "baseline", derive_seed(secret, "baseline"),
                      kReferenceSeconds * static_cast<double>(calls)};
  const Side submission{submission_, "submission", derive_seed(secret, "submission"),
                        task_.run_seconds};
  submission_.set_guards({});
  const auto time_baseline = [&] {
    const bool runs_on = !settings_.defences.holds(Defence::kFreezeBetween);
    if (runs_on) static_cast<void>(submission_.thaw());
    Judgement judged = round(baseline, posed->set, posed->layout, a);
    if (runs_on) static_cast<void>(submission_.freeze());
    return judged;
  };
  const auto time_submission = [&] { return round(submission, posed->set, posed->layout, b); };
  Judgement first = baseline_first ? time_baseline() : time_submission();
  if (!passed(first)) return first;
  Judgement second = baseline_first ? time_submission() : time_baseline();
  if (!passed(second)) return second;
  posed->secret = submission.secret;
  return check_timed(std::move(*posed));
}

/// Rationale: what rounds of so few calls could gain by doing all in the first is less than what rounds
/// of one may show less of the speedup.
bool Session::with_singles() const {
  constexpr std::size_t kFewCalls = 2;
  return settings_.singles > 0 && measured_.calls > kFewCalls &&
         settings_.defences.holds(Defence::kSingleRounds);
}

void Session::choose_calls() {
  measured_ = {};
  measured_.calls = round_calls(task_, settings_, baseline_.call_seconds);
  // Rationale: every timed output is checked. Where that takes far longer than the round, it is fewer
  // calls that give more rounds.
  if (baseline_.answer_seconds > 0) {
    const double most = kAnswerShare * settings_.round_ms * 1e-3 / baseline_.answer_seconds;
    measured_.calls =
        std::min(measured_.calls, static_cast<std::size_t>(std::clamp(most, 1.0, 1e6)));
  }
}

Judgement Session::measure() {
  if (Status frozen = submission_.freeze(); !frozen)
    return frozen_badly(frozen.error(), "submission", "a measurement");
  if (Status frozen = baseline_.runner->freeze(); !frozen)
    return frozen_badly(frozen.error(), "baseline", "a measurement");
  if (!alone()) choose_calls();
  if (Judgement judged = alone() ? run_alone() : run_pairs(); !passed(judged)) return judged;
  return judge_times();
}

/// Whether the pair that was just timed is to be dropped. Rationale: whole pairs, so that no side loses
/// what was bad for it, and few, so that a device that is always held back is measured as it is.
Result<bool> Session::held_back() {
  HONE_ASSIGN(const bool throttled, workbench_.throttled());
  if (!throttled) return false;
  if (measured_.dropped == kDroppedMax) {
    measured_.throttled = true;
    return false;
  }
  ++measured_.dropped;
  return true;
}

Judgement Session::run_pairs() {
  Measured& m = measured_;
  const bool singles = with_singles();
  const double start = monotonic_s();
  std::size_t number = 0;
  double pair_a = 0, pair_b = 0;
  if (Judgement judged = pair(number++, m.calls, !settings_.swapped, &pair_a, &pair_b);
      !passed(judged))
    return judged;
  m.floors.clear();
  m.marked.clear();
  for (int i = 0; i < settings_.pairs_max; ++i) {
    const double passed_s = monotonic_s() - start;
    if (i >= settings_.pairs_min && passed_s > settings_.seconds_max) break;
    if (i >= kPairsLeast && passed_s > kPatience * settings_.seconds_max) break;
    const bool baseline_first = (i % 2 == 0) != settings_.swapped;
    const auto before = m.recorded();
    if (Judgement judged = pair(number++, m.calls, baseline_first, &pair_a, &pair_b);
        !passed(judged))
      return judged;
    const auto drop = held_back();
    if (!drop) return fault(drop.error());
    if (*drop) {
      m.forget_since(before);
      --i;
      continue;
    }
    m.a.push_back(pair_a);
    m.b.push_back(pair_b);
    if (!singles || i >= settings_.singles) continue;
    const std::size_t marks = m.marked.size();
    if (Judgement judged = pair(number++, 1, baseline_first, &pair_a, &pair_b); !passed(judged))
      return judged;
    m.marked.resize(marks);
    m.singles_a.push_back(pair_a);
    m.singles_b.push_back(pair_b);
  }
  return correct_so_far();
}

Judgement Session::judge_times() {
  const Measured& m = measured_;
  const Floor floor = m.floors.empty() ? baseline_.floor : floor_of(m.floors);
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
  const std::vector<double> a = per_call(m.a, floor, m.calls, least),
                            b = per_call(m.b, floor, m.calls, least);
  const Interval interval = speedup_of_rounds(a, b, derive_seed(seed_, "bootstrap"));
  Speedup speedup;
  speedup.value = interval.value;
  speedup.low = interval.low;
  speedup.high = interval.high;
  speedup.time_us = median(b) * 1e6;
  speedup.baseline_us = median(a) * 1e6;
  speedup.floor_us = floor.seconds * 1e6;
  speedup.marked_us = median(m.marked) * 1e6;
  speedup.rounds = static_cast<int>(b.size());
  speedup.calls = static_cast<int>(m.calls);
  bool single_disagrees = false;
  if (!m.singles_b.empty()) {
    const Singles singles = alone() ? compare_singles(m.singles_a, m.singles_b, m.single_floors)
                                    : Singles{median(per_call(m.singles_a, floor, 1, least)) /
                                                  median(per_call(m.singles_b, floor, 1, least)),
                                              true};
    const double single = singles.ratio;
    if (single < kSinglesDisagree * interval.low) {
      // What one call takes may be too little to be told: then nobody is a cheat for it.
      single_disagrees = singles.told_apart;
      speedup.flags.push_back(singles.told_apart ? "single_rounds_disagree" : "below_resolution");
      speedup.value = single;
      speedup.low = std::min(single, interval.low);
      speedup.time_us = speedup.baseline_us / single;
    }
  }
  if (interval.high - interval.low > kNoisyWidth * interval.value) speedup.flags.push_back("noisy");
  const double resolved = std::max(floor.spread, least * static_cast<double>(m.calls));
  if (std::min(median(m.a), median(m.b)) - floor.seconds <= resolved &&
      (speedup.flags.empty() || speedup.flags.front() != "below_resolution"))
    speedup.flags.push_back("below_resolution");
  if (m.throttled) speedup.flags.push_back("throttled");
  if (is_short_of_memory()) speedup.flags.push_back("memory_short");
  if (m.drifted) speedup.flags.push_back("baseline_drifted");
  Judgement judged = correct_so_far();
  if (single_disagrees) judged.verdict.caught = caught::kSingleRounds;
  judged.verdict.speedup = std::move(speedup);
  return judged;
}

}  // namespace hone
