// Measuring a module on a device: A…A, the submission's B…B, and A…A again once it is gone.
//
// Theory of operation. A module's own host code runs beside the device. What it has started there goes
// on while the baseline is timed, whatever its process is told, and would make the baseline slow. So
// the baseline is timed before the submission is loaded and when nothing of it is left (or, of a process
// that is kept, while it stands still, and the device does), and where the
// two do not agree, the faster one counts. What comes after one submission comes before the next of its
// task, where that follows at once. The answers of timed rounds are checked while the submission's process ends, which
// takes a while, too. A copy of them is kept, and their inputs in the reference's arena, while there is room.
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
constexpr int kSingles = 3, kSinglesMost = 10;  // the most where none was as short as calls are
constexpr double kLateSingle = 1.15;
constexpr int kMore = 2;  // rounds at a time, where more than enough are needed
constexpr double kBusySeconds = 3e-3;
constexpr int kWarmRounds = 1;  // not counted: what runs first sets things up
constexpr double kDrift =
    0.05;  // that blocks of the baseline's rounds may differ by, if theirs differ less
constexpr double kSteady = 0.02;  // a spread of rounds that more of them would not make less
constexpr std::uint64_t kLaterBytesMax = 2ull << 30;  // of answers that are checked at last,
constexpr std::uint64_t kLaterShareOfMemory = 64;     // and the device's over this
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

/// All that comes before a round of a side that gets its inputs under the clock. Rationale: a process that has slept is
/// slower by a tenth of a millisecond and more, so both sides have just done nothing, and then the judge has had the
/// device. A submission is shown no inputs for it.
Judgement Session::wake(const Side& side, const InputSet& set, const Layout& layout) {
  const auto load_side = [&] {
    return load(set, side.runner, layout, side.secret, side.culprit, "a measurement");
  };
  // First of all: once a submission has its order it gets as little time as can be before the clock starts.
  if (const Status busy = workbench_.make_busy(kBusySeconds); !busy) return fault(busy.error());
  if (&side.runner == baseline_.runner) {
    if (Judgement loaded = load_side(); !passed(loaded)) return loaded;
  } else {
    side.runner.forget_inputs();
  }
  if (Judgement nothing = nothing_round(side); !passed(nothing)) return nothing;
  if (Judgement loaded = load_side(); !passed(loaded)) return loaded;
  const Status cold = make_cold(layout);
  return cold ? correct_so_far() : fault(cold.error());
}

/// The end of the inputs that are kept for later, and of those that were made ahead, in the reference's arena.
std::uint64_t Session::end_of_inputs() const {
  if (!ahead_.empty()) return ahead_.back().set.exact_layout().total;
  return later_.empty() ? 0 : later_.back().posed.set.exact_layout().total;
}

bool Session::has_room(std::size_t calls) const {
  const auto next = lay_out(task_, task_.timed, calls, Placement::kCanaries, true, end_of_inputs());
  return next && next->total <= reference_.runner->arena().bytes();
}

std::uint64_t Session::secret_of_round(std::size_t number) const {
  return derive_seed(seed_, "alone", settings_.defences.holds(Defence::kFreshInputs) ? number : 0);
}

/// Makes the inputs of the submission's next rounds, one at least, while there is room. Rationale: that takes longer than
/// a round. A core that waits so long for each of them has lost what its caches held, and the baseline's, which has the
/// same inputs again, has not: a module of microseconds lost a third by it.
Judgement Session::pose_ahead(std::size_t calls, int rounds) {
  ahead_.clear();
  if (!has_room(calls)) {
    if (Judgement judged = check_later(); !passed(judged)) return judged;
  }
  for (int i = 0; i < rounds && (i == 0 || has_room(calls)); ++i) {
    const std::size_t number = measured_.number + static_cast<std::size_t>(i);
    auto posed = pose_timed(secret_of_round(number), calls, end_of_inputs());
    if (!posed) return fault(posed.error());
    ahead_.push_back(std::move(*posed));
  }
  return correct_so_far();
}

/// Whether the answers of this round are kept, and not looked at now. Not where there is no memory for them.
bool Session::leaves_for_later(Posed& timed) {
  const std::uint64_t bytes = timed.layout.total;
  const std::uint64_t most =
      std::min(kLaterBytesMax, workbench_.memory_bytes() / kLaterShareOfMemory);
  if (!alone() || copy_ == nullptr || later_bytes_ + bytes > most) return false;
  std::unique_ptr<Arena> outputs;
  if (!workbench_.snapshot(*copy_, bytes, outputs)) return false;
  later_bytes_ += bytes;
  later_.push_back({std::move(timed), std::move(outputs)});
  return true;
}

Judgement Session::check_later() {
  for (Later& round : later_) {
    const std::unique_ptr<Arena> outputs = std::move(round.outputs);
    if (Judgement judged = check_timed_answers(std::move(round.posed), *outputs); !passed(judged))
      return judged;
  }
  later_.clear();
  later_bytes_ = 0;
  return correct_so_far();
}

/// What checking what is kept will take.
double Session::owed_s() const {
  double calls = 0;
  for (const Later& round : later_) calls += static_cast<double>(round.posed.set.calls());
  return calls * baseline_.exact_seconds;
}

/// `kept`: the inputs of the baseline's last round, which serve the next: nobody need fear that it remembers them.
/// `coming`: so many rounds of the submission follow for sure, this one among them.
Judgement Session::one_round(bool of_baseline, std::size_t calls, int coming,
                             std::optional<Posed>& kept, double* seconds) {
  const std::uint64_t secret = secret_of_round(measured_.number);
  if (of_baseline && !kept) {
    auto posed = pose_timed(secret, calls);
    if (!posed) return fault(posed.error());
    kept.emplace(std::move(*posed));
  }
  if (!of_baseline) {
    if (ahead_.empty()) {
      if (Judgement posed = pose_ahead(calls, coming); !passed(posed)) return posed;
    }
    kept.emplace(std::move(ahead_.front()));
    ahead_.pop_front();
  }
  ++measured_.number;
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

/// Rationale: a process that stands still may have left work on the device that begins later.
Judgement Session::expect_others_still() const {
  if (host_.others_stand == nullptr || !settings_.defences.holds(Defence::kStandStill) ||
      host_.others_stand())
    return correct_so_far();
  return fault(unavailable("the device did not stand still beside processes that are kept"));
}

/// Rounds, while nobody else has the device.
Judgement Session::block(bool of_baseline, int enough, int rounds, std::vector<double>& whole) {
  if (Judgement still = expect_others_still(); !passed(still)) return still;
  if (Judgement judged = rounds_of(of_baseline, enough, rounds, whole); !passed(judged))
    return judged;
  return expect_others_still();
}

/// So many rounds; fewer, but `enough`, where more would say nothing more.
Judgement Session::rounds_of(bool of_baseline, int enough, int rounds, std::vector<double>& whole) {
  Measured& m = measured_;
  const Awake awake(of_baseline ? *baseline_.runner : submission_);
  std::optional<Posed> kept;
  const double start = monotonic_s();
  double seconds = 0;
  auto before = m.recorded();
  ahead_.clear();
  const int least = std::max(enough, kRoundsLeast);
  for (int i = 0; i < kWarmRounds; ++i) {
    if (Judgement judged = one_round(of_baseline, m.calls, kWarmRounds - i + least, kept, &seconds);
        !passed(judged))
      return judged;
  }
  m.forget_since(before);
  for (int i = 0; i < rounds; ++i) {
    if (i >= kRoundsLeast && monotonic_s() - start + owed_s() > settings_.seconds_max) break;
    if (i >= least && steady(whole)) break;
    before = m.recorded();
    if (Judgement judged =
            one_round(of_baseline, m.calls, std::max(least - i, kMore), kept, &seconds);
        !passed(judged))
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

/// Rounds of one call: once the submission's others are over, and likewise on the baseline's side.
Judgement Session::single_rounds(bool of_baseline, std::vector<double>& singles) {
  if (!with_singles()) return correct_so_far();
  Measured& m = measured_;
  const Awake awake(of_baseline ? *baseline_.runner : submission_);
  std::optional<Posed> kept;
  const double start = monotonic_s();
  const auto before = m.recorded();
  const int enough = std::min(settings_.singles, kSingles);
  ahead_.clear();
  for (int i = 0; i < (of_baseline ? enough : kSinglesMost); ++i) {
    if (i > 0 && monotonic_s() - start > settings_.seconds_max) break;
    if (i >= enough && !all_late(singles)) break;
    double seconds = 0;
    if (Judgement judged = one_round(of_baseline, 1, std::max(enough - i, kMore), kept, &seconds);
        !passed(judged))
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
  const std::size_t floors = m.floors.size();
  if (baseline_.last != nullptr) *baseline_.last = {};
  if (Judgement judged = block(true, settings_.pairs_min / 2, settings_.pairs_max / 2, after);
      !passed(judged))
    return judged;
  const std::vector<double> new_floors = since(m.floors, floors);
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
  if (Judgement judged = block(false, settings_.pairs_min, settings_.pairs_max, m.b);
      !passed(judged))
    return judged;
  if (Judgement judged = single_rounds(false, m.singles_b); !passed(judged)) return judged;
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
  std::vector<double> after;
  if (Judgement judged = baseline_after(after); !passed(judged)) return judged;
  // Rounds are compared one by one; who has more of them gives those up.
  const std::size_t rounds = std::min(m.a.size(), m.b.size());
  m.a.resize(rounds);
  m.b.resize(rounds);
  return correct_so_far();
}

}  // namespace hone
