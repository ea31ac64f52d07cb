// Measuring a module on a device: pairs of rounds A·A B·B …, the submission standing still in A (beside.cpp).
//
// Theory of operation. The control group of a module's process is frozen while the baseline is timed. Work that the module
// left on the device goes on and could slow the baseline, so the judge checks the device for contention. If there was some,
// the baseline is timed once more, A…A, after the submission has ended (a kept process: while the device is idle). If both
// times differ, the faster one counts. Where
// no control group can hold a submission, the baseline is timed before it is loaded instead, and what comes after one
// submission comes before the next of its task, where that follows at once. What comes before the first pair is done
// beside other judges; then they wait, standing still. The answers of timed rounds are checked beside them again: a copy
// of them is kept, and their inputs in the reference's arena (posed_rounds.cpp).
#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "judge/awake.hpp"
#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/module_rounds.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"

namespace hone {
namespace {

constexpr int kSinglesMost = 10;  // of one call, where none was as short as calls are
constexpr double kLateSingle = 1.15;
constexpr int kMore = 2;  // rounds at a time, where more than enough are needed
constexpr double kBusySeconds = 1e-3, kBusyAfterPauseSeconds = 3e-3;
constexpr double kPauseSeconds = 2e-3, kShortPauseSeconds = 0.3e-3;  // that the device was idle for
constexpr double kDrift =
    0.05;  // that blocks of the baseline's rounds may differ by, if theirs differ less
constexpr double kLastSeconds = 2;  // that a block of the baseline's counts for the next submission

std::vector<double> since(const std::vector<double>& all, std::size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()};
}

}  // namespace

bool Session::alone() const {
  return submission_.withholds() && settings_.defences.holds(Defence::kAlone);
}

/// Whether the baseline's rounds come between the submission's.
bool Session::side_by_side() const { return alone() && submission_.can_stand_still(); }

/// Yields the device to judges that wait to measure. A submission that cannot be frozen never shares the device with a
/// measurement, so there is nothing to yield.
Judgement Session::give_way() {
  if (!shares_device_ || !side_by_side() || host_.give_way == nullptr) return correct_so_far();
  std::optional<Error> unfrozen;
  const Status gave = host_.give_way([&]() -> Status {
    const auto stands = submission_.stand_still();
    if (stands) return {};
    unfrozen = stands.error();
    return stands.error();
  });
  if (unfrozen) return frozen_badly(*unfrozen, Culprit::kSubmission, {Place::kCheck});
  return gave ? correct_so_far() : fault(gave.error());
}

Judgement Session::begin() {
  if (!settings_.measure || !alone()) return correct_so_far();
  choose_calls();
  if (side_by_side()) return correct_so_far();
  if (Status quiet = host_.quiet(); !quiet) return fault(quiet.error());
  return take_last_block() ? correct_so_far() : baseline_before();
}

/// It is the next submission's, too, if this one is not right.
Judgement Session::baseline_before() {
  Measured& m = measured_;
  if (Judgement judged =
          block(true, (settings_.pairs_min + 1) / 2, (settings_.pairs_max + 1) / 2, m.a);
      !passed(judged))
    return judged;
  if (baseline_.last != nullptr && !m.throttled)
    *baseline_.last = {monotonic_s(), m.calls, m.a, m.floors};
  return correct_so_far();
}

bool stands_still(Runner& runner, Workbench& workbench, const Defences& defences) {
  if (!runner.is_kept()) return false;
  const auto stopped = runner.stand_still();
  if (!stopped || !*stopped) return false;
  return !defences.holds(Defence::kStandStill) || workbench.is_still();
}

/// Whether the baseline was timed a moment ago, after another submission.
bool Session::take_last_block() {
  const BaselineBlock* last = baseline_.last.get();
  if (last == nullptr || settings_.swapped || last->calls != measured_.calls ||
      monotonic_s() - last->at_s > kLastSeconds)
    return false;
  measured_.a = last->rounds;
  measured_.floors = last->floors;
  return true;
}

/// The device, which is slower after a pause.
Status Session::keep_busy() {
  const double idle_s = monotonic_s() - idle_since_s_;
  if (idle_s < kShortPauseSeconds) return {};
  HONE_TRY(workbench_.make_busy(idle_s > kPauseSeconds ? kBusyAfterPauseSeconds : kBusySeconds));
  idle_since_s_ = monotonic_s();
  return {};
}

/// All that comes before a round of a side that gets its inputs under the clock. Rationale: a process that has slept is
/// slower by a tenth of a millisecond and more, so both sides have just done nothing, and then the judge has had the
/// device, longer where that has idled. A submission is shown no inputs for it.
Judgement Session::wake(const Side& side, const InputSet& set, const Layout& layout) {
  const auto load_side = [&] {
    return load(set, side.runner, layout, side.secret, side.culprit, {Place::kMeasurement});
  };
  // First of all: once a submission has its order it gets as little time as can be before the clock starts.
  if (const Status busy = keep_busy(); !busy) return fault(busy.error());
  if (&side.runner == baseline_.runner) {
    if (Judgement loaded = load_side(); !passed(loaded)) return loaded;
    if (trimmed_) {  // the call that takes its memory again is not to count
      const Round warm = side.runner.timed_round(Order::kRun, set.calls(), side.limit_s);
      if (warm.ending != Ending::kDone) return blame(warm, side.culprit, {Place::kMeasurement});
      trimmed_ = false;
      if (Judgement loaded = load_side(); !passed(loaded)) return loaded;
    }
  } else {
    side.runner.forget_inputs();
  }
  if (Judgement nothing = nothing_round(side); !passed(nothing)) return nothing;
  if (Judgement loaded = load_side(); !passed(loaded)) return loaded;
  const Status cold = make_cold(layout);
  return cold ? correct_so_far() : fault(cold.error());
}

Session::Side Session::side_of(bool of_baseline, std::size_t calls) {
  const std::uint64_t secret = derive_seed(next_secret(), "side");
  if (!of_baseline) return {submission_, Culprit::kSubmission, secret, task_.run_seconds};
  return {*baseline_.runner, Culprit::kBaseline, secret,
          kReferenceSeconds * static_cast<double>(calls)};
}

/// `kept`: the inputs of the last one, which serve the next: nobody need fear that it remembers them.
Judgement Session::baseline_round(std::size_t calls, std::optional<Posed>& kept, double* seconds) {
  if (!kept) {
    auto posed = pose_timed(next_secret(), std::vector<std::size_t>(calls), end_of_inputs());
    if (!posed) return fault(posed.error());
    kept.emplace(std::move(*posed));
  }
  if (side_by_side()) {
    if (Judgement stood_in = stand_in(*kept); !passed(stood_in)) return stood_in;
  }
  const Awake awake(side_by_side() ? baseline_.runner : nullptr);  // else it is for the whole block
  return round(side_of(true, calls), kept->set, kept->layout, seconds);
}

/// What the submission did between two rounds of the baseline the reference does when that is gone, on the same core.
/// Rationale: a process that comes after another one, or after a pause, is slower than one that goes on, by a third where
/// a call is mostly what Python takes; rounds are to be told apart by what is on the device.
Judgement Session::stand_in(const Posed& posed) {
  const std::vector<int> own = reference_.runner->cores();
  reference_.runner->keep_to(baseline_.runner->cores());
  const Round stood_in = posed.set.run_plain(kReferenceSeconds);
  reference_.runner->keep_to(own);
  return stood_in.ending == Ending::kDone
             ? correct_so_far()
             : blame(stood_in, Culprit::kReference, {Place::kMeasurement});
}

/// `coming`: so many rounds of the submission follow for sure, this one among them.
Judgement Session::submission_round(std::size_t calls, int coming, double* seconds) {
  if (ahead_.empty()) {
    if (Judgement posed = pose_ahead(calls, coming); !passed(posed)) return posed;
  }
  Posed posed = std::move(ahead_.front());
  ahead_.pop_front();
  const Side side = side_of(false, calls);
  if (Judgement judged = round(side, posed.set, posed.layout, seconds); !passed(judged))
    return judged;
  posed.secret = side.secret;
  return check_timed(std::move(posed));
}

/// Rationale: a process that stands still may have left work on the device that goes on, or begins later.
Judgement Session::expect_others_still(double patience_s) const {
  if (host_.others_stand == nullptr || !settings_.defences.holds(Defence::kStandStill))
    return correct_so_far();
  const double ends_s = monotonic_s() + patience_s;
  do {
    if (host_.others_stand()) return correct_so_far();
  } while (monotonic_s() < ends_s);
  return fault(unavailable("the device did not stand still beside what others have on it"));
}

/// Rounds of one side, while nobody else has the device.
Judgement Session::block(bool of_baseline, int enough, int most, std::vector<double>& rounds) {
  if (Judgement still = expect_others_still(); !passed(still)) return still;
  if (Judgement judged = rounds_of(of_baseline, enough, most, rounds); !passed(judged))
    return judged;
  return expect_others_still();
}

/// Who keeps its core between these rounds. Not a baseline whose rounds have others' between them.
Runner* Session::awake_between(bool of_baseline) const {
  if (!of_baseline) return &submission_;
  return side_by_side() ? nullptr : baseline_.runner;
}

/// So many rounds; fewer, but `enough`, where more would say nothing more.
Judgement Session::rounds_of(bool of_baseline, int enough, int most, std::vector<double>& rounds) {
  Measured& m = measured_;
  const Awake awake(awake_between(of_baseline));
  std::optional<Posed> kept;
  const double start = monotonic_s();
  double seconds = 0;
  const int least = std::max(enough, kRoundsLeast);
  const auto one_round = [&](int coming) {
    return of_baseline ? baseline_round(m.calls, kept, &seconds)
                       : submission_round(m.calls, coming, &seconds);
  };
  auto before = m.recorded();
  for (int i = 0; i < kWarmRounds; ++i) {
    if (Judgement judged = one_round(kWarmRounds - i + least); !passed(judged)) return judged;
  }
  m.forget_since(before);
  for (int i = 0; i < most; ++i) {
    if (i >= kRoundsLeast && monotonic_s() - start + owed_s() > settings_.seconds_max) break;
    if (i >= least && steady(rounds)) break;
    before = m.recorded();
    if (Judgement judged = one_round(std::max(least - i, kMore)); !passed(judged)) return judged;
    const auto drop = held_back();
    if (!drop) return fault(drop.error());
    if (*drop) {
      m.forget_since(before);
      --i;
      continue;
    }
    rounds.push_back(seconds);
  }
  return correct_so_far();
}

/// Whether none of the submission's rounds of one call was about as short as its calls are. Rationale: what delays a few
/// of them does not delay ten, and a submission is not to lose by it.
bool Session::all_late(const std::vector<double>& singles) const {
  const Measured& m = measured_;
  const double nothing = m.floors.empty() ? baseline_.floor.least : floor_of(m.floors).least;
  const double call = std::max(median(m.b) - nothing, 0.0) / static_cast<double>(m.calls);
  return *std::min_element(singles.begin(), singles.end()) - nothing > kLateSingle * call;
}

/// Rounds of one call, once the others are over.
Judgement Session::single_rounds(bool of_baseline, std::vector<double>& rounds) {
  if (!with_singles()) return correct_so_far();
  Measured& m = measured_;
  const Awake awake(awake_between(of_baseline));
  std::optional<Posed> kept;
  const double start = monotonic_s();
  const auto before = m.recorded();
  const int enough = std::min(settings_.singles, kSingles);
  const int most = of_baseline ? enough : kSinglesMost;
  ahead_.clear();
  for (int i = 0; i < most; ++i) {
    if (i > 0 && monotonic_s() - start > settings_.seconds_max) break;
    if (i >= enough && !all_late(rounds)) break;
    double seconds = 0;
    if (Judgement judged = of_baseline ? baseline_round(1, kept, &seconds)
                                       : submission_round(1, std::max(enough - i, kMore), &seconds);
        !passed(judged))
      return judged;
    rounds.push_back(seconds);
  }
  m.keep_single_floors(before);
  return correct_so_far();
}

/// What the baseline took is what it took before and after the submission, or beside it and after it; and, where these do
/// not agree, the faster one of them. Keeps what it took after it for the next submission, where it is as good as before.
Judgement Session::baseline_after() {
  Measured& m = measured_;
  const std::size_t floors = m.floors.size();
  std::vector<double> after;
  if (baseline_.last != nullptr) *baseline_.last = {};
  if (Judgement judged = block(true, settings_.pairs_min / 2, settings_.pairs_max / 2, after);
      !passed(judged))
    return judged;
  const std::vector<double> new_floors = since(m.floors, floors);
  // Rationale: what lay on the device beside the submission made these longer, too, and they are subtracted.
  if (side_by_side()) {
    m.floors = new_floors;
    m.singles_a.clear();
    m.single_floors.clear();
  }
  if (Judgement judged = single_rounds(true, m.singles_a); !passed(judged)) return judged;
  const double least = floor_of(m.floors).least;
  const Floor first = floor_of(m.a), last = floor_of(after);
  const double apart = std::fabs(first.seconds - last.seconds);
  const bool differ = apart > kDrift * (std::min(first.seconds, last.seconds) - least);
  m.drifted = differ && apart > std::min(first.spread, last.spread);
  // Rationale: what this submission may have made slow is not what the next one is compared with.
  const bool slower = differ && last.seconds > first.seconds;
  if (baseline_.last != nullptr && !slower && !m.drifted && !m.throttled)
    *baseline_.last = {monotonic_s(), m.calls, after, new_floors};
  const bool faster = last.seconds < first.seconds;
  if (faster && (m.drifted || (side_by_side() && was_disturbed()))) {
    m.a = std::move(after);
  } else if (side_by_side()) {
    // Rationale: the figure is a middle of all pairs, and rounds that what lay on the device made slow are part of that
    // though their median is as it was.
    for (double& seconds : m.a) seconds = std::min(seconds, (1 + kDrift) * last.seconds);
  } else if (!m.drifted) {
    m.a.insert(m.a.end(), after.begin(), after.end());
  }
  return correct_so_far();
}

/// So many of the submission's rounds as there are if its calls take as long as the baseline's; and some more, where those
/// may be made in vain that nobody looks at.
int Session::rounds_to_come() const {
  const double call_s = 2 * baseline_.call_seconds + baseline_.answer_seconds;
  const double pair_s = static_cast<double>(measured_.calls) * call_s;
  const double most = pair_s > 0 ? settings_.seconds_max / pair_s : settings_.pairs_min;
  const int pairs = std::min(settings_.pairs_min + 1, settings_.pairs_max);
  const int in_vain = is_vouched() ? kMore : 0;
  return kWarmRounds + in_vain +
         std::max(static_cast<int>(std::min<double>(most, pairs)), kRoundsLeast);
}

/// While contexts are made, and others check, inputs of the submission's rounds are made, and their answers. While others
/// measure it stands still.
Judgement Session::await_quiet() {
  const int singles = side_by_side() && with_singles() ? std::min(settings_.singles, kSingles) : 0;
  if (Judgement done = work_ahead(measured_.calls, rounds_to_come(), singles); !passed(done))
    return done;
  if (side_by_side()) {
    if (const auto stands = submission_.stand_still(); !stands)
      return frozen_badly(stands.error(), Culprit::kSubmission, {Place::kMeasurement});
  }
  const Status quiet = host_.quiet();
  shares_device_ = false;
  return quiet ? correct_so_far() : fault(quiet.error());
}

/// After rounds beside a submission, which stands still from now on: what others measure next is not to be disturbed by
/// what it left on the device, nor what is still to be checked; and what others disturbed is for another time.
Judgement Session::expect_undisturbed() {
  const auto stands = submission_.stand_still();
  if (!stands) return frozen_badly(stands.error(), Culprit::kSubmission, {Place::kMeasurement});
  if (Judgement still = expect_others_still(); !passed(still)) return still;
  const bool others = host_.beside_others != nullptr && host_.beside_others();
  if (others && was_disturbed())
    return fault(unavailable("the device was others' beside a measurement"));
  return correct_so_far();
}

Judgement Session::run_alone() {
  Measured& m = measured_;
  if (Judgement quiet = await_quiet(); !passed(quiet)) return quiet;
  const bool pairs = side_by_side();
  if (Judgement judged =
          pairs ? pairs_beside() : block(false, settings_.pairs_min, settings_.pairs_max, m.b);
      !passed(judged))
    return judged;
  if (Judgement judged = pairs ? single_pairs_beside() : single_rounds(false, m.singles_b);
      !passed(judged))
    return judged;
  ahead_.clear();
  if (pairs) {
    if (Judgement undisturbed = expect_undisturbed(); !passed(undisturbed)) return undisturbed;
    if (had_the_device()) {
      note_vouched();
      const Status shares = host_.share();
      shares_device_ = true;
      return shares ? check_later() : fault(shares.error());
    }
  }
  const bool stands = stands_still(submission_, workbench_, settings_.defences);
  if (!stands) {
    if (Status thawed = submission_.thaw(); !thawed) return fault(thawed.error());
    host_.end();
  }
  Judgement answers = check_later();
  if (!stands) {
    if (Status ended = host_.ended(); !ended) return fault(ended.error());
  }
  if (!passed(answers)) return answers;
  if (Status quiet = host_.quiet(); !quiet) return fault(quiet.error());
  if (Judgement judged = baseline_after(); !passed(judged)) return judged;
  m.vouched = false;
  if (pairs && !stands) note_vouched();
  // Rounds are compared one by one; who has more of them gives those up.
  const std::size_t rounds = std::min(m.a.size(), m.b.size());
  m.a.resize(rounds);
  m.b.resize(rounds);
  return correct_so_far();
}

}  // namespace hone
