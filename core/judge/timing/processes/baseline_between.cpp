#include "judge/timing/processes/baseline_between.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "judge/fill.hpp"
#include "judge/timing/processes/awake.hpp"
#include "judge/timing/statistics.hpp"

namespace hone {
namespace {

// Duration of the check for contention before and after some rounds of the baseline: at least one time slice of the device.
// Before the rounds its length is random, so that a submission cannot start work between the check and the round.
constexpr double kCheckSeconds = 2.2e-3, kRandomLeastSeconds = 4e-3, kRandomMostSeconds = 16e-3;
// Time before a round: the device made busy, inputs, cold caches.
constexpr double kRoundCostSeconds = 1.5e-3;
// Rounds may take this multiple of the time foreseen. Chosen. If most rounds are longer, the baseline is timed again after the
// submission has ended.
constexpr double kMargin = 1.3;
// Rounds of the baseline for each check, if together they take at most the second number (seconds).
constexpr int kPairsAtOnce = 2;
constexpr double kAtOnceSeconds = 12e-3;
// Slowdown of the baseline, relative to its installed time, after which uncontended pairs are timed again.
constexpr double kHeldUp = 2;
// Least pairs, if the speedup's standard error is at most the second number (docs/modules-reference.md).
constexpr int kPairsFew = 4;
constexpr double kErrorOfSpeedup = 0.015;
// Standard error of a median over that of a mean, for a normal distribution.
constexpr double kErrorOfMedian = 1.25;

/// The standard error of the median of pairs' ratios.
double error_of_speedup(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < b.size(); ++i) ratios.push_back(std::log(a[i] / b[i]));
  const auto count = static_cast<double>(ratios.size());
  const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) / count;
  double squares = 0;
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  return kErrorOfMedian * std::sqrt(squares / (count - 1) / count);
}

}  // namespace

/// Rounds of the baseline with what will be the submission's inputs.
Judgement BaselineBetween::time_baseline(std::size_t calls, std::size_t rounds,
                                         std::vector<double>& seconds) {
  for (std::size_t i = 0; i < rounds; ++i) {
    double took = 0;
    const PreparedRound& prepared = rounds_.store().ahead()[i];
    const Side side = rounds_.side_of(true, calls);
    if (Judgement judged = rounds_.timer().time(side, prepared, &took); !passed(judged))
      return judged;
    if (Status copied = rounds_.store().copy_of_baseline(prepared.layout); !copied)
      return fault(copied.error());
    seconds.push_back(took);
  }
  return correct_so_far();
}

/// Foreseen time of a round of the baseline, with all that comes before it.
double BaselineBetween::round_seconds(std::size_t calls) const {
  return static_cast<double>(calls) * m_.input.baseline.call_seconds + kRoundCostSeconds;
}

/// Upper bound, in seconds, of the random part of the check before this number of the baseline's rounds.
double BaselineBetween::random_check_seconds(std::size_t calls, std::size_t rounds) const {
  const double foreseen_s =
      std::max(baseline_s_, static_cast<double>(rounds) * round_seconds(calls));
  return std::clamp(kMargin * foreseen_s, kRandomLeastSeconds, kRandomMostSeconds);
}

/// time_baseline() between two checks of the device; the first takes `check_s`.
Judgement BaselineBetween::time_watched(std::size_t calls, std::size_t rounds, double check_s,
                                        std::vector<double>& seconds) {
  const double random_s = random_check_seconds(calls, rounds);
  if (Status checked = rounds_.timer().check_device(check_s); !checked)
    return fault(checked.error());
  const double begun_s = m_.input.now_s();
  if (Judgement judged = time_baseline(calls, rounds, seconds); !passed(judged)) return judged;
  baseline_s_ = m_.input.now_s() - begun_s;
  ++(baseline_s_ > random_s ? too_long_ : in_time_);
  const Status checked = rounds_.timer().check_device(kCheckSeconds);
  return checked ? correct_so_far() : fault(checked.error());
}

/// Some rounds of the baseline, while the submission is frozen, and then as many of the submission. Rationale: after 10 ms of
/// memory traffic, calls of milliseconds are 1 to 2 % slower than after a pause of some milliseconds. A check causes such
/// traffic, so the other side, and a baseline without a check, gets the same first.
Judgement BaselineBetween::time_some(std::size_t calls, int pairs, bool watched,
                                     std::vector<double>& a, std::vector<double>& b) {
  StoredRounds& store = rounds_.store();
  Runner& submission = m_.input.submission;
  if (Judgement ready = store.prepare_ahead(calls, pairs); !passed(ready)) return ready;
  const std::size_t most = std::min(static_cast<std::size_t>(pairs), store.ahead().size());
  const double check_s = kCheckSeconds + draw(derive_seed(store.next_secret(), "look"), 0,
                                              random_check_seconds(calls, most));
  const auto stands = submission.stand_still();
  if (!stands) return freeze_failure(stands.error(), Culprit::kSubmission, {Place::kMeasurement});
  if (!*stands) return blame({Ending::kDied, 0, {}}, Culprit::kSubmission, {Place::kMeasurement});
  {
    const Awake awake(m_.input.baseline.runner);
    if (!watched) {
      if (Status busy = rounds_.timer().make_busy(check_s); !busy) return fault(busy.error());
    }
    if (Judgement judged =
            watched ? time_watched(calls, most, check_s, a) : time_baseline(calls, most, a);
        !passed(judged))
      return judged;
  }
  // While it is frozen: else it could have the device do less.
  if (Status busy = rounds_.timer().make_busy(check_s); !busy) return fault(busy.error());
  if (const Status thawed = submission.thaw(); !thawed) return fault(thawed.error());
  for (std::size_t i = 0; i < most; ++i) {
    double seconds = 0;
    if (Judgement judged = rounds_.time_submission(calls, 1, &seconds); !passed(judged))
      return judged;
    b.push_back(seconds);
  }
  return correct_so_far();
}

Judgement BaselineBetween::time_pairs() {
  if (Judgement judged = enough_pairs(); !passed(judged) || !was_held_up()) return judged;
  forget_pairs();  // the machine was held up in the middle of them
  return enough_pairs();
}

void BaselineBetween::forget_pairs() {
  m_.timings.baseline.clear();
  m_.timings.submission.clear();
  m_.timings.drop_since({});
  m_.contention.forget_checks();
  baseline_s_ = 0;
  in_time_ = too_long_ = 0;
}

/// Whether the baseline took far longer than it did before, though nothing else used the device.
bool BaselineBetween::was_held_up() const {
  const double before_s = static_cast<double>(m_.timings.calls) * m_.input.baseline.call_seconds;
  return too_long_ >= in_time_ && !m_.contention.device_was_shared() &&
         median(m_.timings.baseline) > kHeldUp * before_s;
}

bool BaselineBetween::is_enough(double start_s) const {
  const MeasureSettings& settings = m_.input.settings;
  const Timings& timings = m_.timings;
  const int done = static_cast<int>(timings.submission.size());
  if (done >= kRoundsLeast &&
      m_.input.now_s() - start_s + rounds_.store().owed_s() > settings.seconds_max)
    return true;
  if (done >= std::max(settings.pairs_min, kRoundsLeast) && steady(timings.submission)) return true;
  return done >= kPairsFew &&
         error_of_speedup(timings.baseline, timings.submission) <= kErrorOfSpeedup;
}

Judgement BaselineBetween::enough_pairs() {
  Timings& timings = m_.timings;
  const MeasureSettings& settings = m_.input.settings;
  const Awake awake(&m_.input.submission);
  const double start_s = m_.input.now_s();
  const int at_once =
      std::clamp(static_cast<int>(kAtOnceSeconds / round_seconds(timings.calls)), 1, kPairsAtOnce);
  std::vector<double> a, b;
  if (!warm_) {
    const Timings::Mark mark = timings.mark();
    if (Judgement judged = time_some(timings.calls, kWarmRounds, false, a, b); !passed(judged))
      return judged;
    timings.drop_since(mark);
    warm_ = true;
  }
  while (timings.submission.size() < static_cast<std::size_t>(settings.pairs_max) &&
         !is_enough(start_s)) {
    const Timings::Mark mark = timings.mark();
    a.clear();
    b.clear();
    const int pairs =
        std::min(at_once, settings.pairs_max - static_cast<int>(timings.submission.size()));
    if (Judgement judged = time_some(timings.calls, pairs, true, a, b); !passed(judged))
      return judged;
    const auto drop = m_.contention.must_drop_pair(timings);
    if (!drop) return fault(drop.error());
    if (*drop) {
      timings.drop_since(mark);
      continue;
    }
    timings.baseline.insert(timings.baseline.end(), a.begin(), a.end());
    timings.submission.insert(timings.submission.end(), b.begin(), b.end());
  }
  return correct_so_far();
}

/// Single-call rounds, all at once.
Judgement BaselineBetween::time_single_pairs() {
  Timings& timings = m_.timings;
  if (!has_single_rounds(m_.input, timings)) return correct_so_far();
  const Awake awake(&m_.input.submission);
  const Timings::Mark mark = timings.mark();
  rounds_.store().take_single_rounds();
  Judgement judged = time_some(1, std::min(m_.input.settings.single_call_pairs, kSingleCallRounds),
                               true, timings.single_baseline, timings.single_submission);
  timings.keep_as_single_floors(mark);
  return judged;
}

/// Rationale: a frozen submission can only have left something on the device. That takes turns with the judge's own work
/// there, or some of the memory's speed. To slow the baseline unseen it would have to begin and end within the baseline's
/// rounds, every time, without knowing when they begin. A confirmation run does not rely on that.
bool BaselineBetween::had_the_device() const {
  if (!m_.input.holds(Defence::kStandStill)) return true;
  return in_time_ > too_long_ && !m_.input.settings.swapped && !m_.contention.device_was_shared();
}

}  // namespace hone
