#include "judge/timing/processes/before_and_after.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "judge/fill.hpp"
#include "judge/timing/processes/awake.hpp"
#include "judge/timing/statistics.hpp"

namespace hone {
namespace {

constexpr int kRoundsLeast = 3;       // least rounds of one side: fewer have no quartiles
constexpr int kWarmRounds = 1;        // rounds that do not count: the first sets things up
constexpr int kSingleCallRounds = 3;  // most single-call rounds of one side, if none is late
constexpr double kSteady = 0.02;      // spread of rounds that more of them would not reduce
constexpr int kMore = 2;              // rounds prepared at a time, beyond the least number
// Most single-call rounds, if none was as short as calls are, and the multiple of a call's time from which one is late.
constexpr int kSinglesMost = 10;
constexpr double kLateSingle = 1.15;
// Largest difference of the baseline's rounds before and after, if they spread less (docs/modules-reference.md).
constexpr double kDrift = 0.05;

/// By quartiles, over their median.
bool steady(const std::vector<double>& rounds) {
  const Floor all = floor_of(rounds);
  return all.spread <= kSteady * all.seconds;
}

}  // namespace

BeforeAndAfter::BeforeAndAfter(const Measurement& measurement)
    : m_(measurement), timer_(measurement), store_(measurement, timer_, Checks::kLater) {
  m_.timings.schedule = Schedule::kBlocks;
}

Judgement BeforeAndAfter::measure() {
  Timings& timings = m_.timings;
  const MeasureSettings& settings = m_.input.settings;
  const int before = (settings.pairs_min + 1) / 2, before_most = (settings.pairs_max + 1) / 2;
  std::vector<double> after;
  if (Judgement judged = time_rounds(true, before, before_most, timings.baseline); !passed(judged))
    return judged;
  if (Judgement judged =
          time_rounds(false, settings.pairs_min, settings.pairs_max, timings.submission);
      !passed(judged))
    return judged;
  if (Judgement judged = time_single_rounds(false, timings.single_submission); !passed(judged))
    return judged;
  timings.memory_short = store_.is_short_of_memory();
  if (Judgement answers = end_submission(); !passed(answers)) return answers;
  // Rationale: work that the submission left on the device made the empty rounds longer, too, and they are subtracted.
  timings.floors.clear();
  timings.wall_floors.clear();
  if (Judgement judged = time_rounds(true, settings.pairs_min / 2, settings.pairs_max / 2, after);
      !passed(judged))
    return judged;
  if (Judgement judged = time_single_rounds(true, timings.single_baseline); !passed(judged))
    return judged;
  combine(std::move(after));
  return correct_so_far();
}

Runner& BeforeAndAfter::runner_of(bool of_baseline) const {
  return of_baseline ? *m_.input.baseline.runner : m_.input.submission;
}

Side BeforeAndAfter::side_of(bool of_baseline, std::size_t calls) {
  const std::uint64_t secret = derive_seed(store_.next_secret(), "side");
  return of_baseline ? m_.clock.baseline(secret, calls) : m_.clock.submission(secret);
}

/// `coming`: at least this many rounds of this side follow, this one included.
Judgement BeforeAndAfter::time_round(bool of_baseline, std::size_t calls, int coming,
                                     double* seconds) {
  if (store_.is_empty()) {
    if (Judgement ready = store_.prepare_ahead(calls, coming); !passed(ready)) return ready;
  }
  PreparedRound prepared = store_.take_next();
  const Side side = side_of(of_baseline, calls);
  if (Judgement judged = timer_.time(side, prepared, seconds); !passed(judged)) return judged;
  prepared.secret = side.secret;
  return of_baseline ? store_.pass_over(std::move(prepared)) : store_.check(std::move(prepared));
}

/// At most `most` rounds, at least `enough`; fewer than `most` if they are steady or time runs out.
Judgement BeforeAndAfter::time_rounds(bool of_baseline, int enough, int most,
                                      std::vector<double>& rounds) {
  Timings& timings = m_.timings;
  const Awake awake(runner_of(of_baseline));
  const double start_s = m_.input.now_s();
  double seconds = 0;
  const int least = std::max(enough, kRoundsLeast);
  const auto one_round = [&](int coming) {
    return time_round(of_baseline, timings.calls, coming, &seconds);
  };
  store_.forget_ahead();
  Timings::Mark mark = timings.mark();
  for (int i = 0; i < kWarmRounds; ++i) {
    if (Judgement judged = one_round(kWarmRounds - i + least); !passed(judged)) return judged;
  }
  timings.drop_since(mark);
  for (int i = 0; i < most;) {
    if (i >= kRoundsLeast &&
        m_.input.now_s() - start_s + store_.owed_s() > m_.input.settings.seconds_max)
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
  const Awake awake(runner_of(of_baseline));
  const double start_s = m_.input.now_s();
  const Timings::Mark mark = timings.mark();
  const int enough = std::min(settings.single_call_pairs, kSingleCallRounds);
  const int most = of_baseline ? enough : kSinglesMost;
  store_.forget_ahead();
  for (int i = 0; i < most; ++i) {
    if (i > 0 && m_.input.now_s() - start_s > settings.seconds_max) break;
    if (i >= enough && !all_late(rounds)) break;
    double seconds = 0;
    if (Judgement judged = time_round(of_baseline, 1, std::max(enough - i, kMore), &seconds);
        !passed(judged))
      return judged;
    rounds.push_back(seconds);
  }
  timings.keep_as_single_floors(mark);
  return correct_so_far();
}

/// Ends the submission. Checks the stored rounds while its process exits.
Judgement BeforeAndAfter::end_submission() {
  const SessionInput& e = m_.input;
  if (Status thawed = e.submission.thaw(); !thawed) return fault(thawed.error());
  e.host.end();
  Judgement answers = store_.check_stored();
  if (Status gone = e.host.ended(); !gone) return fault(gone.error());
  return answers;
}

/// The baseline's time from its rounds before and after the submission's. If they disagree, the faster ones count, and earlier
/// ones for no more than a little above the later ones, which the submission could not make slow.
void BeforeAndAfter::combine(std::vector<double> after) {
  Timings& timings = m_.timings;
  const double least = floor_of(timings.floors).least;
  const Floor first = floor_of(timings.baseline), last = floor_of(after);
  const double apart = std::fabs(first.seconds - last.seconds);
  const bool differ = apart > kDrift * (std::min(first.seconds, last.seconds) - least);
  timings.drifted = differ && apart > std::min(first.spread, last.spread);
  if (timings.drifted && last.seconds < first.seconds) {
    timings.baseline = std::move(after);
  } else if (!timings.drifted) {
    for (double& seconds : timings.baseline)
      seconds = std::min(seconds, (1 + kDrift) * last.seconds);
    timings.baseline.insert(timings.baseline.end(), after.begin(), after.end());
  }
  // Rounds are compared one by one; the side with more of them gives those up.
  const std::size_t rounds = std::min(timings.baseline.size(), timings.submission.size());
  timings.baseline.resize(rounds);
  timings.submission.resize(rounds);
}

}  // namespace hone
