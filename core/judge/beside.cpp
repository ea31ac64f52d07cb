// The baseline's rounds between a module's, and whether the device was theirs alone.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "judge/awake.hpp"
#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/kept_rounds.hpp"
#include "judge/module_rounds.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"

namespace hone {
namespace {

// Duration of the check for contention before and after some rounds of the baseline: at least one time slice of the device.
// Before the rounds its length is random, so that a submission cannot start work between the check and the round.
constexpr double kLookSeconds = 2.2e-3, kLookMoreLeastSeconds = 4e-3, kLookMoreMostSeconds = 16e-3;
// Of what comes before a round: the device made busy, inputs, cold caches.
constexpr double kRoundCostSeconds = 1.5e-3;
constexpr double kMargin = 1.3;                           // that it may take longer than foreseen
constexpr double kShareTaken = 0.15, kShareOfAll = 0.08;  // 0.03 is seen where there is nobody
constexpr double kAwaySeconds = 1e-3, kNotAlone = 1e3;
// Allowed slowdown of the baseline relative to its uncontended time, and of an empty round relative to the baseline.
constexpr double kVouchedMore = 0.05, kVouchedFloorMore = 0.02;
constexpr double kForever = 1e9;
// There is one look for so many rounds, if they take no longer together.
constexpr int kPairsAtOnce = 2;
constexpr double kAtOnceSeconds = 12e-3;
// Longest time for work of others' frozen submissions to end.
constexpr double kOthersStillSeconds = 0.25;
constexpr int kCopiesOfOutputs = 2;  // of a submission's round: to look at, and for later
constexpr double kHeldUp = 2;
constexpr int kPairsFew = 4;  // that do where the speedup's standard error is this
constexpr double kErrorOfSpeedup = 0.015;
constexpr double kErrorOfMedian = 1.25;  // over that of a mean, of what is distributed normally

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

/// So many of its rounds, with what will be the submission's inputs.
Judgement Session::baseline_beside(std::size_t calls, std::size_t rounds,
                                   std::vector<double>& seconds) {
  for (std::size_t i = 0; i < rounds; ++i) {
    double took = 0;
    const Posed& posed = ahead_[i];
    if (Judgement judged = round(side_of(true, calls), posed.set, posed.layout, &took);
        !passed(judged))
      return judged;
    if (Status copied = copy_as_checked(posed.layout); !copied) return fault(copied.error());
    seconds.push_back(took);
  }
  return correct_so_far();
}

/// What is done with a submission's outputs after its round: nobody's next round is to be the warmer one.
Status Session::copy_as_checked(const Layout& layout) {
  auto& copy = layout.total > kOneCopyBytes ? copy_ : beside_copy_;
  for (int i = 0; i < kCopiesOfOutputs; ++i)
    HONE_TRY(copy_outputs(baseline_.runner->arena(), layout, copy));
  return {};
}

/// What a round of the baseline's will take, with all that comes before it.
double Session::round_seconds(std::size_t calls) const {
  return static_cast<double>(calls) * baseline_.call_seconds + kRoundCostSeconds;
}

/// Upper bound, in seconds, of the random part of the look before so many of the baseline's rounds.
double Session::look_more_seconds(std::size_t calls, std::size_t rounds) const {
  const double foreseen_s =
      std::max(measured_.beside_s, static_cast<double>(rounds) * round_seconds(calls));
  return std::clamp(kMargin * foreseen_s, kLookMoreLeastSeconds, kLookMoreMostSeconds);
}

/// baseline_beside() between two looks at the device; the first takes `look_s`.
Judgement Session::baseline_watched(std::size_t calls, std::size_t rounds, double look_s,
                                    std::vector<double>& seconds) {
  Measured& m = measured_;
  const double more_s = look_more_seconds(calls, rounds);
  if (Status looked = look_at_others(look_s); !looked) return fault(looked.error());
  const double begun_s = monotonic_s();
  if (Judgement judged = baseline_beside(calls, rounds, seconds); !passed(judged)) return judged;
  m.beside_s = monotonic_s() - begun_s;
  ++(m.beside_s > more_s ? m.too_long : m.in_time);
  const Status looked = look_at_others(kLookSeconds);
  return looked ? correct_so_far() : fault(looked.error());
}

/// Rationale: after 10 ms of memory traffic, calls of milliseconds are 1 to 2 % slower than after a pause of some
/// milliseconds. A look causes such traffic, so the other side, and a baseline that is not looked at, gets the same first.
Status Session::be_busy_as_in_a_look(double look_s) {
  HONE_TRY(workbench_.make_busy(look_s));
  idle_since_s_ = monotonic_s();
  return {};
}

/// Some of the baseline's rounds, while the submission stands still, and then as many of its own.
Judgement Session::pairs_at_once(std::size_t calls, int pairs, bool watched, std::vector<double>& a,
                                 std::vector<double>& b) {
  if (Judgement posed = pose_ahead(calls, pairs); !passed(posed)) return posed;
  const std::size_t most = std::min(static_cast<std::size_t>(pairs), ahead_.size());
  const double look_s =
      kLookSeconds + draw(derive_seed(next_secret(), "look"), 0, look_more_seconds(calls, most));
  const auto stands = submission_.stand_still();
  if (!stands) return frozen_badly(stands.error(), Culprit::kSubmission, {Place::kMeasurement});
  if (!*stands) return blame({Ending::kDied, 0, {}}, Culprit::kSubmission, {Place::kMeasurement});
  {
    const Awake awake(baseline_.runner);
    if (!watched) {
      if (Status busy = be_busy_as_in_a_look(look_s); !busy) return fault(busy.error());
    }
    if (Judgement judged =
            watched ? baseline_watched(calls, most, look_s, a) : baseline_beside(calls, most, a);
        !passed(judged))
      return judged;
  }
  // While it is frozen: else it could have the device do less.
  if (Status busy = be_busy_as_in_a_look(look_s); !busy) return fault(busy.error());
  if (const Status thawed = submission_.thaw(); !thawed) return fault(thawed.error());
  for (std::size_t i = 0; i < most; ++i) {
    double seconds = 0;
    if (Judgement judged = submission_round(calls, 1, &seconds); !passed(judged)) return judged;
    b.push_back(seconds);
  }
  return correct_so_far();
}

/// Rationale: who leaves work on the device makes the baseline slow, and gains by nothing else. So where it is known what
/// its rounds take, they are not looked at until they take longer, and count for no more; nor is a second look content
/// with that.
Judgement Session::pairs_beside() {
  Measured& m = measured_;
  if (is_vouched()) {
    if (Judgement judged = enough_pairs(false); !passed(judged)) return judged;
    m.vouched = median(m.a) <= vouched_round_s() && median(m.floors) <= vouched_floor_s();
    if (m.vouched) {
      hold_to_vouched();
      return correct_so_far();
    }
    forget_pairs();
  }
  if (Judgement judged = enough_pairs(true); !passed(judged) || !was_held_up()) return judged;
  forget_pairs();  // the machine was held up in the middle of them
  return enough_pairs(true);
}

/// Whether it is known what the baseline's rounds take, and that counts.
bool Session::is_vouched() const {
  return baseline_.vouched.calls == measured_.calls && !settings_.swapped;
}

void Session::forget_pairs() {
  Measured& m = measured_;
  m.a.clear();
  m.b.clear();
  m.shares.clear();
  m.forget_since({});
  m.beside_s = 0;
  m.in_time = m.too_long = 0;
}

/// What a round of the baseline may take, where it is known what it takes while nobody else has the device; and one that
/// does nothing.
double Session::vouched_round_s() const {
  const bool holds = settings_.defences.holds(Defence::kStandStill);
  return holds ? (1 + kVouchedMore) * baseline_.vouched.seconds : kForever;
}

double Session::vouched_floor_s() const {
  const bool holds = settings_.defences.holds(Defence::kStandStill);
  const Vouched& known = baseline_.vouched;
  return holds ? known.floor_s + kVouchedFloorMore * known.seconds : kForever;
}

/// Rationale: the figure is a middle of all pairs, and some slow rounds are part of that though the median is as it was.
void Session::hold_to_vouched() {
  for (double& seconds : measured_.a) seconds = std::min(seconds, vouched_round_s());
  for (double& seconds : measured_.floors) seconds = std::min(seconds, vouched_floor_s());
}

/// Rationale: what they may take longer by does not add up from one submission to the next.
void Session::note_vouched() {
  const Measured& m = measured_;
  if (m.throttled) return;
  vouched_ = {m.calls, median(m.a), median(m.floors), m.vouched};
}

/// Whether the baseline took far longer than it did before, and nobody else had the device.
bool Session::was_held_up() const {
  const Measured& m = measured_;
  const double before_s = static_cast<double>(m.calls) * baseline_.call_seconds;
  return m.too_long >= m.in_time && !was_disturbed() && median(m.a) > kHeldUp * before_s;
}

/// As many as are wanted; fewer where more would say nothing more. `watched`: the device is looked at around the
/// baseline's; else there are no more of them once these have become slow.
Judgement Session::enough_pairs(bool watched) {
  Measured& m = measured_;
  const Awake awake(&submission_);
  const double start = monotonic_s();
  const int at_once =
      std::clamp(static_cast<int>(kAtOnceSeconds / round_seconds(m.calls)), 1, kPairsAtOnce);
  if (Judgement still = expect_others_still(kOthersStillSeconds); !passed(still)) return still;
  auto before = m.recorded();
  std::vector<double> a, b;
  if (!m.warm) {
    if (Judgement judged = pairs_at_once(m.calls, kWarmRounds, false, a, b); !passed(judged))
      return judged;
    m.forget_since(before);
    m.warm = true;
  }
  while (m.b.size() < static_cast<std::size_t>(settings_.pairs_max)) {
    const int done = static_cast<int>(m.b.size());
    if (done >= kRoundsLeast && monotonic_s() - start + owed_s() > settings_.seconds_max) break;
    if (done >= std::max(settings_.pairs_min, kRoundsLeast) && steady(m.b)) break;
    if (done >= kPairsFew && error_of_speedup(m.a, m.b) <= kErrorOfSpeedup) break;
    if (!watched && done > 0 && *std::min_element(m.a.begin(), m.a.end()) > vouched_round_s())
      break;
    before = m.recorded();
    a.clear();
    b.clear();
    const int pairs = std::min(at_once, settings_.pairs_max - done);
    if (Judgement judged = pairs_at_once(m.calls, pairs, watched, a, b); !passed(judged))
      return judged;
    const auto drop = held_back();
    if (!drop) return fault(drop.error());
    if (*drop) {
      m.forget_since(before);
      continue;
    }
    m.a.insert(m.a.end(), a.begin(), a.end());
    m.b.insert(m.b.end(), b.begin(), b.end());
  }
  return correct_so_far();
}

/// Of rounds of one call: all at once.
Judgement Session::single_pairs_beside() {
  if (!with_singles()) return correct_so_far();
  const Awake awake(&submission_);
  const auto before = measured_.recorded();
  ahead_ = std::exchange(singles_ahead_, {});
  Judgement judged = pairs_at_once(1, std::min(settings_.singles, kSingles), true,
                                   measured_.singles_a, measured_.singles_b);
  measured_.keep_single_floors(before);
  return judged;
}

/// What of the device somebody else has now.
Status Session::look_at_others(double seconds) {
  HONE_ASSIGN(const Workbench::Others others, workbench_.others_had(seconds));
  const bool taken =
      others.share == 0 || others.share > 1 + kShareTaken || others.away_s > kAwaySeconds;
  measured_.shares.push_back(taken ? kNotAlone : others.share);
  idle_since_s_ = monotonic_s();
  return {};
}

/// Whether the device was the baseline's alone in its rounds between the submission's. Rationale: a submission whose
/// process stands still can only have left something on the device. That takes turns with our own work there, or some of
/// the memory's speed; and it would have to begin and end within the baseline's rounds, every time, without knowing when
/// they begin. A second look does not take this for an answer.
bool Session::had_the_device() const {
  if (!settings_.defences.holds(Defence::kStandStill)) return true;
  const bool seen = measured_.vouched || measured_.in_time > measured_.too_long;
  return seen && !settings_.swapped && !was_disturbed();
}

bool Session::was_disturbed() const {
  const std::vector<double>& shares = measured_.shares;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return sum > (1 + kShareOfAll) * static_cast<double>(shares.size());
}

}  // namespace hone
