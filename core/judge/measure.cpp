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
#include <utility>

#include "base/clock.hpp"
#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

constexpr int kPairsLeast = 3;   // even for a submission that is far slower than its baseline,
constexpr double kPatience = 4;  // after this many times the time that a measurement should take
constexpr std::size_t kSinglesFactor = 3;  // maximum single-call rounds, as a multiple of `singles`
constexpr double kRoundFactor =
    8;  // maximum round length, as a multiple of round_ms, to fit all families
constexpr int kDroppedMax = 3;
constexpr int kNoisyFactor = 3;  // most pairs on a noisy machine, as a multiple of the planned ones
constexpr double kHaltedSeconds =
    0.1;  // a pair with a round in which the machine stood still for longer is dropped
constexpr double kAnswerShare = 4;  // limit of the time for the answers of one round, in rounds

Result<std::uint64_t> call_bytes(const Task& task, bool exact) {
  HONE_ASSIGN(const Layout one, lay_out(task, task.timed, 1, Placement::kDevice, exact));
  return one.total;
}

}  // namespace

std::size_t round_calls(const Task& task, const MeasureSettings& settings, double call_seconds) {
  const auto bytes = call_bytes(task, true);
  const double fit =
      bytes ? static_cast<double>(settings.set_mb << 20) / static_cast<double>(*bytes) : 1;
  const double call_s = std::max(call_seconds, 1e-9), round_s = settings.round_ms * 1e-3;
  const double most = std::min(fit, static_cast<double>(kCallsMax));
  const double wanted = std::clamp(std::ceil(round_s / call_s), 1.0, std::max(most, 1.0));
  // Rationale: what a call takes may depend on its inputs, so that rounds with the same share of each family agree best.
  const auto families = static_cast<double>(timed_family_count(task, settings.defences));
  const double whole = std::ceil(wanted / families) * families;
  const bool fits = whole <= most && whole * call_s <= kRoundFactor * round_s;
  return static_cast<std::size_t>(fits ? whole : wanted);
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

/// Rationale: what a round leaves in the caches, dirty above all, slows the next one by a tenth and more.
Status Session::make_cold(const Layout& layout) {
  if (task_.cache_warm) return {};
  return workbench_.make_cold(baseline_.runner->arena(), submission_.arena(), layout.total);
}

/// A round that does nothing. Rationale: what it costs depends on where the outputs lie, and on what else the machine does.
/// The baseline's is the floor, for what a submission's process does is never subtracted.
Judgement Session::nothing_round(const Side& side) {
  const Round nothing = side.runner.timed_round(Order::kNothing, 0, side.limit_s);
  if (nothing.ending != Ending::kDone) return blame(nothing, side.culprit, {Place::kMeasurement});
  if (&side.runner == baseline_.runner) {
    measured_.floors.push_back(nothing.seconds - excused(side, nothing));
    measured_.wall_floors.push_back(nothing.seconds);
  }
  return correct_so_far();
}

/// A submission with one thread can be delayed only by other processes. Threads could wait for each other.
bool Session::excuses_submission() const { return task_.threads == 1; }

/// What of a round does not count. Rationale: on a busy machine a long round is delayed more often than a short one, so
/// that fast kernels looked faster than they are. The baseline's code is trusted.
double Session::excused(const Side& side, const Round& round) const {
  if (!settings_.defences.holds(Defence::kFloorInPairs)) return 0;
  const bool is_baseline = &side.runner == baseline_.runner;
  return is_baseline || excuses_submission() ? round.delayed_seconds : 0;
}

/// A call before a round of one call, with other inputs and no clock. Rationale: what a kernel keeps of its own (tables,
/// packed tiles) is warm in all calls of a long round but the first, and cold in a round of one call after the other
/// side's and the reference's. Without this, kernels that use such memory seemed to do a round's work in its first call.
Judgement Session::warm_up(const Side& side, const InputSet& set, const Layout& layout) {
  const std::uint64_t secret = derive_seed(side.secret, "warm up");
  if (Judgement loaded =
          load(set, side.runner, layout, secret, side.culprit, {Place::kMeasurement});
      !passed(loaded))
    return loaded;
  const Round round = side.runner.timed_round(Order::kRun, set.calls(), side.limit_s);
  return round.ending == Ending::kDone ? correct_so_far()
                                       : blame(round, side.culprit, {Place::kMeasurement});
}

Judgement Session::round(const Side& side, const InputSet& set, const Layout& layout,
                         double* seconds) {
  if (side.runner.withholds()) {
    if (Judgement woken = wake(side, set, layout); !passed(woken)) return woken;
  } else {
    if (Judgement loaded =
            load(set, side.runner, layout, side.secret, side.culprit, {Place::kMeasurement});
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
  halted_ = halted_ || round.halted_seconds > kHaltedSeconds;
  if (is_baseline)
    measured_.marked.push_back(round.marked_seconds / static_cast<double>(set.calls()));
  *seconds = round.seconds - excused(side, round);
  return round.ending == Ending::kDone ? correct_so_far()
                                       : blame(round, side.culprit, {Place::kMeasurement});
}

/// The calls of a timed round, with inputs of that secret; what hides them in an arena is its side's.
Result<Session::Posed> Session::pose_timed(std::uint64_t secret, std::vector<std::size_t> families,
                                           std::uint64_t at) {
  const std::size_t calls = families.size();
  HONE_ASSIGN(InputSet set,
              InputSet::make(task_, task_.timed, std::move(families), secret, *reference_.runner,
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
  const bool single = calls == 1 && measured_.calls > 1;
  const std::size_t family_at = fresh ? (single ? measured_.singles : measured_.posed_calls) : 0;
  const std::vector<std::size_t> families =
      timed_families(task_, seed_, family_at, calls, settings_.defences);
  (single ? measured_.singles : measured_.posed_calls) += calls;
  if (single) measured_.single_families.push_back(families.front());
  auto posed = pose_timed(secret, families);
  if (!posed) return fault(posed.error());
  std::optional<Posed> warm;
  if (single) {
    auto other = pose_timed(fresh ? derive_seed(secret, "warm") : secret, families,
                            posed->set.exact_layout().total);
    if (!other) return fault(other.error());
    warm = std::move(*other);
  }
  const auto timed = [&](const Side& side, double* seconds) {
    if (warm) {
      if (Judgement warmed = warm_up(side, warm->set, warm->layout); !passed(warmed)) return warmed;
    }
    return round(side, posed->set, posed->layout, seconds);
  };
  const Side baseline{*baseline_.runner, Culprit::kBaseline, derive_seed(secret, "baseline"),
                      kReferenceSeconds * static_cast<double>(calls)};
  const Side submission{submission_, Culprit::kSubmission, derive_seed(secret, "submission"),
                        task_.run_seconds};
  submission_.set_guards({});
  const bool on_host = workbench_.placement() != Placement::kDevice;
  const auto time_baseline = [&] {
    // Before its inputs are there and caches are written over. A submission has no such round: it would run with its
    // inputs before the clock.
    if (on_host && settings_.defences.holds(Defence::kFloorInPairs)) {
      if (Judgement nothing = nothing_round(baseline); !passed(nothing)) return nothing;
    }
    const bool runs_on = !settings_.defences.holds(Defence::kFreezeBetween);
    if (runs_on) static_cast<void>(submission_.thaw());
    Judgement judged = timed(baseline, a);
    if (runs_on) static_cast<void>(submission_.freeze());
    return judged;
  };
  const auto time_submission = [&] { return timed(submission, b); };
  Judgement first = baseline_first ? time_baseline() : time_submission();
  if (!passed(first)) return first;
  Judgement second = baseline_first ? time_submission() : time_baseline();
  if (!passed(second)) return second;
  posed->secret = submission.secret;
  return check_timed(std::move(*posed));
}

bool Session::with_singles() const {
  return settings_.singles > 0 && measured_.calls > 1 &&
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
    return frozen_badly(frozen.error(), Culprit::kSubmission, {Place::kMeasurement});
  if (Status frozen = baseline_.runner->freeze(); !frozen)
    return frozen_badly(frozen.error(), Culprit::kBaseline, {Place::kMeasurement});
  if (!alone()) choose_calls();
  submission_.set_urgent(true);
  if (Judgement judged = alone() ? run_alone() : run_pairs(); !passed(judged)) return judged;
  return judge_times();
}

/// Whether the pair that was just timed is to be dropped: the device was held back, or the machine stood still. Rationale:
/// a whole pair, so that neither side can lose only its bad rounds. Few pairs, so that a device that is always throttled is
/// still measured.
Result<bool> Session::held_back() {
  if (std::exchange(halted_, false)) return true;
  HONE_ASSIGN(const bool throttled, workbench_.throttled());
  if (!throttled) return false;
  if (measured_.dropped == kDroppedMax) {
    measured_.throttled = true;
    return false;
  }
  ++measured_.dropped;
  return true;
}

/// How many pairs are timed, where one takes `pair_s` with a submission as fast as the baseline. Rationale: a submission
/// that is slow now and then must not choose how many rounds it gets.
int Session::planned_pairs(double pair_s) const {
  const double single_s = pair_s / static_cast<double>(measured_.calls);
  const double left_s = settings_.seconds_max - (with_singles() ? settings_.singles * single_s : 0);
  const double pairs =
      std::clamp<double>(left_s / std::max(pair_s, 1e-6), settings_.pairs_min, settings_.pairs_max);
  return static_cast<int>(pairs);
}

/// Whether no further pair is timed, though fewer are done than planned: only for a submission that is far slower than its
/// baseline.
bool Session::is_cut_short(int done, int planned, double passed_s) {
  if (done < kPairsLeast || done >= planned) return false;
  if (!settings_.defences.holds(Defence::kFixedPairs))
    return done >= settings_.pairs_min && passed_s > settings_.seconds_max;
  measured_.cut_short = passed_s > kPatience * settings_.seconds_max;
  return measured_.cut_short;
}

Judgement Session::run_pairs() {
  Measured& m = measured_;
  double start = monotonic_s();
  std::size_t number = 0;
  double pair_a = 0, pair_b = 0;
  if (Judgement judged = pair(number++, m.calls, !settings_.swapped, &pair_a, &pair_b);
      !passed(judged))
    return judged;
  const int planned = planned_pairs(monotonic_s() - start - pair_b + pair_a);
  m.floors.clear();
  m.wall_floors.clear();
  m.marked.clear();
  start = monotonic_s();
  int enough = planned;
  for (int i = 0; i < enough; ++i) {
    if (is_cut_short(i, planned, monotonic_s() - start)) break;
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
    if (i + 1 == enough && enough < kNoisyFactor * planned && is_machine_noisy()) ++enough;
    if (!with_singles() || i >= settings_.singles) continue;
    if (Judgement judged = single_pair(&number, baseline_first); !passed(judged)) return judged;
  }
  return more_singles(&number);
}

Judgement Session::single_pair(std::size_t* number, bool baseline_first) {
  Measured& m = measured_;
  const std::size_t marks = m.marked.size();
  double pair_a = 0, pair_b = 0;
  if (Judgement judged = pair((*number)++, 1, baseline_first, &pair_a, &pair_b); !passed(judged))
    return judged;
  m.marked.resize(marks);
  m.singles_a.push_back(pair_a);
  m.singles_b.push_back(pair_b);
  return correct_so_far();
}

/// More rounds of one call, where those so far show less. Rationale: on a busy machine each of a few may have been
/// delayed, and a submission cannot make its least one shorter than a call takes.
Judgement Session::more_singles(std::size_t* number) {
  const std::size_t most = kSinglesFactor * static_cast<std::size_t>(settings_.singles);
  while (measured_.singles_b.size() < most && singles_differ()) {
    const bool baseline_first = (*number % 2 == 0) != settings_.swapped;
    if (Judgement judged = single_pair(number, baseline_first); !passed(judged)) return judged;
  }
  return correct_so_far();
}

}  // namespace hone
