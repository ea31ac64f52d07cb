#include "judge/timing/processes/before_and_after.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "judge/timing/processes/awake.hpp"
#include "judge/timing/statistics.hpp"

namespace hone {
namespace {

// Most single-call rounds, if none was as short as calls are, and the multiple of a call's time from which one is late. Chosen:
// below 1.25, from which single-call rounds are called cheating (`single_rounds`, docs/verdicts.md).
constexpr int kSinglesMost = 10;
constexpr double kLateSingle = 1.15;
// Largest difference of the baseline's rounds before and after, if they spread less (docs/modules-reference.md).
constexpr double kDrift = 0.05;

std::vector<double> since(const std::vector<double>& all, std::size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()};
}

}  // namespace

BeforeAndAfter::BeforeAndAfter(const Measurement& measurement)
    : m_(measurement),
      rounds_(measurement),
      between_(rounds_),
      freezes_(rounds_.freezes_submission()) {
  m_.timings.schedule = Schedule::kBlocks;
}

/// For a submission that cannot be frozen. It could slow these rounds; the rounds after its end show that.
Judgement BeforeAndAfter::time_before() {
  const MeasureSettings& settings = m_.input.settings;
  return time_rounds(true, (settings.pairs_min + 1) / 2, (settings.pairs_max + 1) / 2,
                     m_.timings.baseline);
}

/// `kept`: the inputs of the last round, which serve the next: the dataset's code does not remember them.
Judgement BeforeAndAfter::time_baseline(std::size_t calls, std::optional<PreparedRound>& kept,
                                        double* seconds) {
  if (!kept) {
    auto prepared = rounds_.store().prepare_next(calls);
    if (!prepared) return fault(prepared.error());
    kept.emplace(std::move(*prepared));
  }
  if (freezes_) {
    if (Judgement stood_in = stand_in(*kept); !passed(stood_in)) return stood_in;
  }
  // Else it is awake for the whole block.
  const Awake awake(freezes_ ? m_.input.baseline.runner : nullptr);
  return rounds_.timer().time(rounds_.side_of(true, calls), *kept, seconds);
}

/// The reference runs where the submission ran between two rounds of the baseline, on the same core. Rationale: a process that
/// comes after another one, or after a pause, is slower than one that goes on, by a third where a call is mostly Python's time.
Judgement BeforeAndAfter::stand_in(const PreparedRound& prepared) {
  Runner& reference = *m_.input.reference.runner;
  const std::vector<int> own = reference.cores();
  reference.set_affinity(m_.input.baseline.runner->cores());
  const Round stood_in = prepared.set.run_plain(kReferenceSeconds);
  reference.set_affinity(own);
  return stood_in.ending == Ending::kDone
             ? correct_so_far()
             : blame(stood_in, Culprit::kReference, {Place::kMeasurement});
}

/// The process that keeps its core between these rounds: none if other rounds come between the baseline's.
Runner* BeforeAndAfter::awake_between(bool of_baseline) const {
  if (!of_baseline) return &m_.input.submission;
  return freezes_ ? nullptr : m_.input.baseline.runner;
}

/// At most `most` rounds, at least `enough`; fewer than `most` if they are steady or time runs out.
Judgement BeforeAndAfter::time_rounds(bool of_baseline, int enough, int most,
                                      std::vector<double>& rounds) {
  Timings& timings = m_.timings;
  const Awake awake(awake_between(of_baseline));
  std::optional<PreparedRound> kept;
  const double start_s = m_.input.now_s();
  double seconds = 0;
  const int least = std::max(enough, kRoundsLeast);
  const auto one_round = [&](int coming) {
    return of_baseline ? time_baseline(timings.calls, kept, &seconds)
                       : rounds_.time_submission(timings.calls, coming, &seconds);
  };
  Timings::Mark mark = timings.mark();
  for (int i = 0; i < kWarmRounds; ++i) {
    if (Judgement judged = one_round(kWarmRounds - i + least); !passed(judged)) return judged;
  }
  timings.drop_since(mark);
  for (int i = 0; i < most;) {
    if (i >= kRoundsLeast &&
        m_.input.now_s() - start_s + rounds_.store().owed_s() > m_.input.settings.seconds_max)
      break;
    if (i >= least && steady(rounds)) break;
    mark = timings.mark();
    if (Judgement judged = one_round(std::max(least - i, kMore)); !passed(judged)) return judged;
    const auto drop = m_.contention.must_drop_pair(timings);
    if (!drop) return fault(drop.error());
    if (*drop) {
      timings.drop_since(mark);
      continue;
    }
    rounds.push_back(seconds);
    ++i;
  }
  return correct_so_far();
}

/// Whether none of the submission's single-call rounds was about as short as its calls are. Rationale: a delay of a few of them
/// does not delay ten, and a submission must not lose by it.
bool BeforeAndAfter::all_late(const std::vector<double>& single_call_s) const {
  const Timings& timings = m_.timings;
  const double empty =
      timings.floors.empty() ? m_.input.baseline.floor.least : floor_of(timings.floors).least;
  const double call =
      std::max(median(timings.submission) - empty, 0.0) / static_cast<double>(timings.calls);
  return *std::min_element(single_call_s.begin(), single_call_s.end()) - empty > kLateSingle * call;
}

Judgement BeforeAndAfter::time_single_rounds(bool of_baseline, std::vector<double>& rounds) {
  Timings& timings = m_.timings;
  const MeasureSettings& settings = m_.input.settings;
  if (!has_single_rounds(m_.input, timings)) return correct_so_far();
  const Awake awake(awake_between(of_baseline));
  std::optional<PreparedRound> kept;
  const double start_s = m_.input.now_s();
  const Timings::Mark mark = timings.mark();
  const int enough = std::min(settings.single_call_pairs, kSingleCallRounds);
  const int most = of_baseline ? enough : kSinglesMost;
  rounds_.store().forget_ahead();
  for (int i = 0; i < most; ++i) {
    if (i > 0 && m_.input.now_s() - start_s > settings.seconds_max) break;
    if (i >= enough && !all_late(rounds)) break;
    double seconds = 0;
    if (Judgement judged = of_baseline
                               ? time_baseline(1, kept, &seconds)
                               : rounds_.time_submission(1, std::max(enough - i, kMore), &seconds);
        !passed(judged))
      return judged;
    rounds.push_back(seconds);
  }
  timings.keep_as_single_floors(mark);
  return correct_so_far();
}

/// Times the baseline again, after the submission.
Judgement BeforeAndAfter::time_after() {
  Timings& timings = m_.timings;
  const MeasureSettings& settings = m_.input.settings;
  const std::size_t floors = timings.floors.size();
  std::vector<double> after;
  if (Judgement judged = time_rounds(true, settings.pairs_min / 2, settings.pairs_max / 2, after);
      !passed(judged))
    return judged;
  // Rationale: work that the submission left on the device made the floors longer, too, and they are subtracted.
  timings.floors = since(timings.floors, floors);
  timings.single_baseline.clear();
  timings.single_floors.clear();
  if (Judgement judged = time_single_rounds(true, timings.single_baseline); !passed(judged))
    return judged;
  combine(std::move(after));
  return correct_so_far();
}

/// The baseline's time, from its rounds before (or between) the submission's and those after. If they
/// disagree, the faster ones count.
void BeforeAndAfter::combine(std::vector<double> after) {
  Timings& timings = m_.timings;
  const double least = floor_of(timings.floors).least;
  const Floor first = floor_of(timings.baseline), last = floor_of(after);
  const double apart = std::fabs(first.seconds - last.seconds);
  const bool differ = apart > kDrift * (std::min(first.seconds, last.seconds) - least);
  timings.drifted = differ && apart > std::min(first.spread, last.spread);
  const bool faster = last.seconds < first.seconds;
  if (faster && (timings.drifted || (freezes_ && m_.contention.device_was_shared()))) {
    timings.baseline = std::move(after);
    return;
  }
  // Rationale: the speedup is a mean of the middle pairs. A few rounds that other work made slow change
  // that mean, but not the median.
  for (double& seconds : timings.baseline) seconds = std::min(seconds, (1 + kDrift) * last.seconds);
  if (!freezes_ && !timings.drifted)
    timings.baseline.insert(timings.baseline.end(), after.begin(), after.end());
}

/// The number of the submission's rounds if its calls take as long as the baseline's.
int BeforeAndAfter::rounds_to_come() const {
  const SessionInput& e = m_.input;
  const double call_s = 2 * e.baseline.call_seconds + e.baseline.answer_seconds;
  const double pair_s = static_cast<double>(m_.timings.calls) * call_s;
  const double most = pair_s > 0 ? e.settings.seconds_max / pair_s : e.settings.pairs_min;
  const int pairs = std::min(e.settings.pairs_min + 1, e.settings.pairs_max);
  return kWarmRounds + std::max(static_cast<int>(std::min<double>(most, pairs)), kRoundsLeast);
}

/// Makes the inputs and expected outputs of the submission's rounds, while nothing is timed.
Judgement BeforeAndAfter::prepare() {
  const bool has_single_calls = freezes_ && has_single_rounds(m_.input, m_.timings);
  return rounds_.store().work_ahead(
      m_.timings.calls, rounds_to_come(),
      has_single_calls ? std::min(m_.input.settings.single_call_pairs, kSingleCallRounds) : 0);
}

Judgement BeforeAndAfter::time_submission() {
  const MeasureSettings& settings = m_.input.settings;
  Timings& timings = m_.timings;
  Judgement judged =
      freezes_ ? between_.time_pairs()
               : time_rounds(false, settings.pairs_min, settings.pairs_max, timings.submission);
  if (!passed(judged)) return judged;
  return freezes_ ? between_.time_single_pairs()
                  : time_single_rounds(false, timings.single_submission);
}

/// Ends the submission. Checks the stored rounds while its process exits.
Judgement BeforeAndAfter::end_submission() {
  const SessionInput& e = m_.input;
  if (Status thawed = e.submission.thaw(); !thawed) return fault(thawed.error());
  e.host.end();
  Judgement answers = rounds_.store().check_stored();
  if (Status gone = e.host.ended(); !gone) return fault(gone.error());
  return answers;
}

Judgement BeforeAndAfter::measure() {
  Timings& timings = m_.timings;
  if (!freezes_) {
    if (Judgement quiet = await_quiet(m_.input); !passed(quiet)) return quiet;
    if (Judgement judged = time_before(); !passed(judged)) return judged;
  }
  if (Judgement prepared = prepare(); !passed(prepared)) return prepared;
  if (Judgement quiet = await_quiet(m_.input); !passed(quiet)) return quiet;
  if (Judgement judged = time_submission(); !passed(judged)) return judged;
  rounds_.store().forget_ahead();
  if (freezes_ && between_.had_the_device()) {
    // Frozen, so that it starts no work on the device during the checks that are due.
    const auto stands = m_.input.submission.stand_still();
    if (!stands) return freeze_failure(stands.error(), Culprit::kSubmission, {Place::kMeasurement});
    Judgement answers = rounds_.store().check_stored();
    timings.memory_short = rounds_.store().is_short_of_memory();
    return answers;
  }
  if (Judgement answers = end_submission(); !passed(answers)) return answers;
  if (Judgement quiet = await_quiet(m_.input); !passed(quiet)) return quiet;
  if (Judgement judged = time_after(); !passed(judged)) return judged;
  // Rounds are compared one by one; the side with more of them gives those up.
  const std::size_t rounds = std::min(timings.baseline.size(), timings.submission.size());
  timings.baseline.resize(rounds);
  timings.submission.resize(rounds);
  timings.memory_short = rounds_.store().is_short_of_memory();
  return correct_so_far();
}

}  // namespace hone
