// Measuring a module on a device: A…A, the submission's B…B, and A…A again once it is gone.
//
// Theory of operation. A module's own host code runs beside the device. What it has started there goes
// on while the baseline is timed, whatever its process is told, and would make the baseline slow. So
// the baseline is timed before the submission is loaded and when nothing of it is left, and where the
// two do not agree, the faster one counts. What comes after one submission comes before the next of its
// task, where that follows at once. The answers of timed rounds are checked while the submission's process ends, which
// takes a while, too. A copy of them is kept, and their inputs where there is room, or the secret they are made of.
#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"

namespace hone {
namespace {

constexpr int kRoundsLeast = 3;
constexpr int kSinglesMost = 3;
constexpr double kBusySeconds = 3e-3;
constexpr int kWarmRounds = 1;  // not counted: what runs first sets things up
constexpr double kDrift =
    0.05;  // that blocks of the baseline's rounds may differ by, if theirs differ less
constexpr double kSteady = 0.02;  // a spread of rounds that more of them would not make less
constexpr std::uint64_t kLaterBytesMax = 2ull << 30;  // of answers that are checked at last
constexpr double kLastSeconds = 2;  // that a block of the baseline's counts for the next submission

/// By quartiles, over their median.
bool steady(const std::vector<double>& rounds) {
  const Floor all = floor_of(rounds);
  return all.spread <= kSteady * all.seconds;
}

/// While its rounds come one after the other.
class Awake {
 public:
  explicit Awake(Runner& runner) : runner_(runner) { runner_.stay_awake(true); }
  ~Awake() { runner_.stay_awake(false); }
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;

 private:
  Runner& runner_;
};

std::vector<double> since(const std::vector<double>& all, std::size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()};
}

}  // namespace

bool Session::alone() const {
  return submission_.withholds() && settings_.defences.holds(Defence::kAlone);
}

Judgement Session::begin() {
  if (!settings_.measure || !alone()) return correct_so_far();
  if (Status quiet = host_.quiet(); !quiet) return fault(quiet.error());
  choose_calls();
  if (take_last_block()) return correct_so_far();
  return block(true, (settings_.pairs_min + 1) / 2, (settings_.pairs_max + 1) / 2, measured_.a,
               measured_.singles_a);
}

/// Whether the baseline was timed a moment ago, after another submission.
bool Session::take_last_block() {
  const BaselineBlock* last = baseline_.last.get();
  if (last == nullptr || settings_.swapped || last->calls != measured_.calls ||
      monotonic_s() - last->at_s > kLastSeconds)
    return false;
  measured_.a = last->rounds;
  measured_.singles_a = last->singles;
  measured_.floors = last->floors;
  measured_.single_floors = last->single_floors;
  return true;
}

/// All that comes before a round of a side that gets its inputs under the clock. Rationale: a process that has slept is
/// slower by a tenth of a millisecond and more, so both sides have just done nothing, and then the judge has had the
/// device. A submission is shown no inputs for it.
Judgement Session::wake(const Side& side, const InputSet& set, const Layout& layout) {
  const auto load_side = [&] {
    return load(set, side.runner, layout, side.secret, side.culprit, "a measurement");
  };
  if (&side.runner == baseline_.runner) {
    if (Judgement loaded = load_side(); !passed(loaded)) return loaded;
  } else {
    side.runner.forget_inputs();
  }
  if (Judgement nothing = nothing_round(side); !passed(nothing)) return nothing;
  if (Judgement loaded = load_side(); !passed(loaded)) return loaded;
  if (const Status busy = workbench_.make_busy(kBusySeconds); !busy) return fault(busy.error());
  const Status cold = make_cold(layout);
  return cold ? correct_so_far() : fault(cold.error());
}

/// Where in the reference's arena the next round's inputs go: behind those that are kept for later, while there is room.
std::uint64_t Session::place_for(std::size_t calls) {
  if (later_.empty() || !later_.back().has_inputs) return 0;
  const std::uint64_t end = later_.back().posed.set.exact_layout().total;
  const auto next = lay_out(task_, task_.timed, calls, Placement::kCanaries, true, end);
  if (next && next->total <= reference_.runner->arena().bytes()) return end;
  for (Later& round : later_) round.has_inputs = false;
  return 0;
}

/// Whether the answers of this round are kept, and not looked at now. Not where there is no memory for them.
bool Session::leaves_for_later(Posed& timed) {
  const std::uint64_t bytes = timed.layout.total;
  if (!alone() || copy_ == nullptr || later_bytes_ + bytes > kLaterBytesMax) return false;
  std::unique_ptr<Arena> outputs;
  if (!workbench_.snapshot(*copy_, bytes, outputs)) return false;
  later_bytes_ += bytes;
  later_.push_back({std::move(timed), true, std::move(outputs)});
  return true;
}

Judgement Session::check_later() {
  // What has its inputs comes first: the others' are made in the same place.
  std::stable_partition(later_.begin(), later_.end(), [](const Later& l) { return l.has_inputs; });
  for (Later& round : later_) {
    if (!round.has_inputs) {
      const std::uint64_t secret = round.posed.secret;
      auto posed = pose_timed(round.posed.made_of, round.posed.set.calls());
      if (!posed) return fault(posed.error());
      round.posed = std::move(*posed);
      round.posed.secret = secret;
    }
    const std::unique_ptr<Arena> outputs = std::move(round.outputs);
    if (Judgement judged = check_timed_answers(std::move(round.posed), *outputs); !passed(judged))
      return judged;
  }
  later_.clear();
  return correct_so_far();
}

/// `kept`: the inputs of the baseline's last round, which serve the next: nobody need fear that it remembers them.
Judgement Session::one_round(bool of_baseline, std::size_t calls, std::optional<Posed>& kept,
                             double* seconds) {
  const bool fresh = settings_.defences.holds(Defence::kFreshInputs);
  const std::uint64_t secret = derive_seed(seed_, "alone", fresh ? measured_.number : 0);
  ++measured_.number;
  if (!kept || kept->set.calls() != calls) {
    auto posed = pose_timed(secret, calls, of_baseline ? 0 : place_for(calls));
    if (!posed) return fault(posed.error());
    kept.emplace(std::move(*posed));
  }
  const Side side{of_baseline ? *baseline_.runner : submission_,
                  of_baseline ? "baseline" : "submission", derive_seed(secret, "side"),
                  of_baseline ? kReferenceSeconds * static_cast<double>(calls) : task_.run_seconds};
  Judgement judged = round(side, kept->set, kept->layout, seconds);
  if (!passed(judged) || of_baseline) return judged;
  Posed posed = std::move(*kept);
  kept.reset();
  posed.secret = side.secret;
  return check_timed(std::move(posed));
}

/// So many rounds; fewer, but `enough`, where more would say nothing more. Then those of one call.
Judgement Session::block(bool of_baseline, int enough, int rounds, std::vector<double>& whole,
                         std::vector<double>& singles) {
  Measured& m = measured_;
  const Awake awake(of_baseline ? *baseline_.runner : submission_);
  std::optional<Posed> kept;
  const double start = monotonic_s();
  double seconds = 0;
  auto before = m.recorded();
  for (int i = 0; i < kWarmRounds; ++i) {
    if (Judgement judged = one_round(of_baseline, m.calls, kept, &seconds); !passed(judged))
      return judged;
  }
  m.forget_since(before);
  for (int i = 0; i < rounds; ++i) {
    if (i >= kRoundsLeast && monotonic_s() - start > settings_.seconds_max) break;
    if (i >= std::max(enough, kRoundsLeast) && steady(whole)) break;
    before = m.recorded();
    if (Judgement judged = one_round(of_baseline, m.calls, kept, &seconds); !passed(judged))
      return judged;
    const auto drop = held_back();
    if (!drop) return fault(drop.error());
    if (*drop) {
      m.forget_since(before);
      --i;
      continue;
    }
    whole.push_back(seconds);
  }
  before = m.recorded();
  const int single_rounds = with_singles() ? std::min(settings_.singles, kSinglesMost) : 0;
  for (int i = 0; i < single_rounds; ++i) {
    if (i > 0 && monotonic_s() - start > settings_.seconds_max) break;
    if (Judgement judged = one_round(of_baseline, 1, kept, &seconds); !passed(judged))
      return judged;
    singles.push_back(seconds);
  }
  const std::vector<double> floors = since(m.floors, before.floors);
  m.single_floors.insert(m.single_floors.end(), floors.begin(), floors.end());
  m.forget_since(before);
  return correct_so_far();
}

/// And keeps it for the next submission, where it is as good as the one before.
Judgement Session::baseline_after(std::vector<double>& after) {
  Measured& m = measured_;
  const std::size_t singles = m.singles_a.size(), floors = m.floors.size(),
                    single_floors = m.single_floors.size();
  if (baseline_.last != nullptr) *baseline_.last = {};
  if (Judgement judged =
          block(true, settings_.pairs_min / 2, settings_.pairs_max / 2, after, m.singles_a);
      !passed(judged))
    return judged;
  const double least = floor_of(m.floors).least;
  const Floor first = floor_of(m.a), last = floor_of(after);
  const double apart = std::fabs(first.seconds - last.seconds);
  m.drifted = apart > kDrift * (std::min(first.seconds, last.seconds) - least) &&
              apart > std::max(first.spread, last.spread);
  // Rationale: what this submission may have made slow is not what the next one is compared with.
  if (baseline_.last != nullptr && !m.drifted && !m.throttled) {
    *baseline_.last = {monotonic_s(),
                       m.calls,
                       after,
                       since(m.singles_a, singles),
                       since(m.floors, floors),
                       since(m.single_floors, single_floors)};
  }
  if (!m.drifted) {
    m.a.insert(m.a.end(), after.begin(), after.end());
  } else if (last.seconds < first.seconds) {
    m.a = std::move(after);
  }
  return correct_so_far();
}

Judgement Session::run_alone() {
  Measured& m = measured_;
  if (Status quiet = host_.quiet(); !quiet) return fault(quiet.error());
  if (Judgement judged = block(false, settings_.pairs_min, settings_.pairs_max, m.b, m.singles_b);
      !passed(judged))
    return judged;
  host_.end();
  Judgement answers = check_later();
  if (Status ended = host_.ended(); !ended) return fault(ended.error());
  if (!passed(answers)) return answers;
  if (Status quiet = host_.quiet(); !quiet) return fault(quiet.error());
  std::vector<double> after;
  if (Judgement judged = baseline_after(after); !passed(judged)) return judged;
  // Rounds are compared one by one; who has more of them gives those up.
  const std::size_t rounds = std::min(m.a.size(), m.b.size());
  m.a.resize(rounds);
  m.b.resize(rounds);
  return correct_so_far();
}

}  // namespace hone
