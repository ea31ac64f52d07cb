#include "judge/timing/paired.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "judge/fill.hpp"

namespace hone {
namespace {

// Least pairs, even for a submission that is far slower than its baseline: fewer have no interval.
constexpr int kPairsLeast = 3;
// A measurement is cut short after this multiple of `seconds_max`. A submission as fast as its baseline takes
// `seconds_max`, and one that is seven times slower takes four times as long: (1 + 7) / 2.
constexpr double kPatience = 4;
// Most pairs of single-call rounds, as a multiple of `singles` (docs/adr/0025).
constexpr std::size_t kSingleCallFactor = 3;
// Most pairs on a noisy machine, as a multiple of the planned ones (docs/rewards.md).
constexpr int kNoisyMachineFactor = 3;

}  // namespace

Judgement PairedProtocol::measure() {
  const double start_s = m_.input.now_s();
  Times first;
  if (Judgement judged = time_pair(m_.timings.calls, baseline_first(0), &first); !passed(judged))
    return judged;
  const double pair_s =
      m_.input.now_s() - start_s - first.submission_s + first.baseline_s + supply_->ahead_seconds();
  m_.timings.drop_since({});
  if (Judgement judged = time_long_pairs(planned_pairs(pair_s)); !passed(judged)) return judged;
  return add_single_pairs();
}

bool PairedProtocol::baseline_first(std::size_t pair) const {
  return (pair % 2 == 0) != m_.input.settings.swapped;
}

/// The number of pairs, if one takes `pair_s` with a submission as fast as the baseline. Rationale: a submission that is slow
/// now and then must not choose how many rounds it gets.
int PairedProtocol::planned_pairs(double pair_s) const {
  const MeasureSettings& settings = m_.input.settings;
  const double single_s = pair_s / static_cast<double>(m_.timings.calls);
  const bool has_single_calls = has_single_rounds(m_.input, m_.timings);
  const double left_s =
      settings.seconds_max - (has_single_calls ? settings.single_call_pairs * single_s : 0);
  const double pairs =
      std::clamp<double>(left_s / std::max(pair_s, 1e-6), settings.pairs_min, settings.pairs_max);
  return static_cast<int>(pairs);
}

/// Whether no further pair is timed, though fewer are done than planned: only for a submission that is far slower than its
/// baseline.
bool PairedProtocol::is_cut_short(int done, int planned, double passed_s) {
  const MeasureSettings& settings = m_.input.settings;
  if (done < kPairsLeast || done >= planned) return false;
  if (!m_.input.holds(Defence::kFixedPairs))
    return done >= settings.pairs_min && passed_s > settings.seconds_max;
  m_.timings.cut_short = passed_s > kPatience * settings.seconds_max;
  return m_.timings.cut_short;
}

Judgement PairedProtocol::time_long_pairs(int planned) {
  Timings& timings = m_.timings;
  const double start_s = m_.input.now_s();
  int enough = planned;
  for (int done = 0; done < enough;) {
    if (is_cut_short(done, planned, m_.input.now_s() - start_s)) break;
    const bool first = baseline_first(static_cast<std::size_t>(done));
    const Timings::Mark mark = timings.mark();
    Times times;
    if (Judgement judged = time_pair(timings.calls, first, &times); !passed(judged)) return judged;
    const auto drop = m_.contention.must_drop_pair(timings);
    if (!drop) return fault(drop.error());
    if (*drop) {
      timings.drop_since(mark);
      continue;
    }
    timings.baseline.push_back(times.baseline_s);
    timings.submission.push_back(times.submission_s);
    ++done;
    if (done == enough && enough < kNoisyMachineFactor * planned &&
        m_.rules.is_machine_noisy(timings))
      ++enough;
    if (!has_single_rounds(m_.input, timings) || done > m_.input.settings.single_call_pairs)
      continue;
    if (Judgement judged = time_single_pair(first); !passed(judged)) return judged;
  }
  return correct_so_far();
}

Judgement PairedProtocol::time_single_pair(bool baseline_first) {
  Timings& timings = m_.timings;
  const std::size_t marks = timings.marked.size();
  Times times;
  if (Judgement judged = time_pair(1, baseline_first, &times); !passed(judged)) return judged;
  timings.marked.resize(marks);
  timings.single_baseline.push_back(times.baseline_s);
  timings.single_submission.push_back(times.submission_s);
  return correct_so_far();
}

/// More single-call rounds, where those so far show less. Rationale: on a busy machine each of a few may have been delayed,
/// and a submission cannot make its least one shorter than a call takes.
Judgement PairedProtocol::add_single_pairs() {
  const std::size_t most =
      kSingleCallFactor * static_cast<std::size_t>(m_.input.settings.single_call_pairs);
  while (m_.timings.single_submission.size() < most &&
         m_.rules.single_rounds_show_less(m_.timings)) {
    if (Judgement judged = time_single_pair(baseline_first(sequence_.pairs())); !passed(judged))
      return judged;
  }
  return correct_so_far();
}

Judgement PairedProtocol::time_round(const Side& side, const PreparedRound& prepared,
                                     const std::optional<PreparedRound>& warm, double* seconds) {
  if (warm) {
    if (Judgement warmed = m_.clock.warm_up(side, *warm); !passed(warmed)) return warmed;
  }
  return timer_->time(side, prepared, seconds);
}

Judgement PairedProtocol::time_baseline(const Side& side, const PreparedRound& prepared,
                                        const std::optional<PreparedRound>& warm, double* seconds) {
  if (Judgement before = timer_->before_baseline(side); !passed(before)) return before;
  const bool runs_on = !m_.input.holds(Defence::kFreezeBetween);
  Runner& submission = m_.input.submission;
  if (runs_on) static_cast<void>(submission.thaw());
  Judgement judged = time_round(side, prepared, warm, seconds);
  if (runs_on) static_cast<void>(submission.freeze());
  return judged;
}

Judgement PairedProtocol::time_pair(std::size_t calls, bool baseline_first, Times* times) {
  const SessionInput& e = m_.input;
  const bool single = calls == 1 && m_.timings.calls > 1;
  const NextPair next = sequence_.next(single);
  const std::uint64_t secret = next.secret;
  if (single) m_.timings.single_families.push_back(next.families.front());
  auto prepared = supply_->prepare(secret, next.families, 0);
  if (!prepared) return fault(prepared.error());
  std::optional<PreparedRound> warm;
  if (single) {
    auto other =
        supply_->prepare(next.warm_secret, next.families, prepared->set.exact_layout().total);
    if (!other) return fault(other.error());
    warm = std::move(*other);
  }
  const Side baseline = m_.clock.baseline(derive_seed(secret, "baseline"), calls);
  const Side submission = m_.clock.submission(derive_seed(secret, "submission"), calls);
  e.submission.set_guards({});
  const auto time_side = [&](bool of_baseline) {
    return of_baseline ? time_baseline(baseline, *prepared, warm, &times->baseline_s)
                       : time_round(submission, *prepared, warm, &times->submission_s);
  };
  if (Judgement first = time_side(baseline_first); !passed(first)) return first;
  if (Judgement second = time_side(!baseline_first); !passed(second)) return second;
  prepared->secret = submission.secret;
  return supply_->check(std::move(*prepared));
}

}  // namespace hone
