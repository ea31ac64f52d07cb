#include "judge/timing/ahead_rounds.hpp"

#include <algorithm>
#include <utility>

#include "judge/spare_arenas.hpp"

namespace hone {
namespace {

// Least time of a pair besides its calls (s): inputs are loaded, and empty rounds run. Chosen low: a pair that is prepared and
// not timed costs memory only, while one that is prepared late keeps other lanes from the device (record 48).
constexpr double kPairCostSeconds = 2e-3;
// Copies of outputs take at most this part of the device's memory: 1/64 (memory_budget.cpp reserves as much).
constexpr std::uint64_t kCopiesShareOfMemory = 64;

std::uint64_t outputs_bytes(const Layout& layout) {
  return layout.outputs_end - layout.outputs_begin;
}

/// Where the masters of a round with these calls end, in the reference's arena. 0: it cannot be laid out.
std::uint64_t end_of_masters(const SessionInput& e, std::size_t calls, std::uint64_t from) {
  const auto layout = lay_out(e.task, e.task.timed, calls, Placement::kCanaries, true, from);
  return layout ? layout->total : 0;
}

}  // namespace

AheadRounds::AheadRounds(const Measurement& measurement)
    : m_(measurement),
      copies_bytes_max_(std::min(SpareArenas::kBytesMax,
                                 m_.input.workbench.memory_bytes() / kCopiesShareOfMemory)) {}

AheadRounds::~AheadRounds() {
  for (Copied& round : copied_) free_.push_back(std::move(round.copies));
  for (Copies& each : free_) {
    m_.input.workbench.keep_spare(std::move(each.submission));
    m_.input.workbench.keep_spare(std::move(each.baseline));
  }
}

/// The number of pairs of long rounds that will be timed, if calls take as long as the baseline's.
int AheadRounds::pairs_ahead() const {
  const MeasureSettings& settings = m_.input.settings;
  const double pair_s =
      2 * static_cast<double>(m_.timings.calls) * m_.input.baseline.call_seconds + kPairCostSeconds;
  return static_cast<int>(
      std::clamp<double>(settings.seconds_max / pair_s, settings.pairs_min, settings.pairs_max));
}

bool AheadRounds::fits(std::size_t calls) const {
  const std::uint64_t end = end_of_masters(m_.input, calls, end_);
  return end != 0 && end <= m_.input.reference.runner->arena().bytes();
}

/// Rationale: a reference with scratch memory has it behind the inputs of its round, where the next round's would be.
Judgement AheadRounds::prepare_ahead(RoundSequence sequence) {
  const SessionInput& e = m_.input;
  const std::size_t calls = m_.timings.calls;
  if (e.reference.runner->scratch_bytes(e.task.timed) > 0) return correct_so_far();
  const std::uint64_t single = end_of_masters(e, 1, 0);
  begin_ = end_ = std::max(end_of_masters(e, calls, 0), end_of_masters(e, 1, single));
  const int singles = has_single_rounds(e, m_.timings) ? e.settings.single_call_pairs : 0;
  const int pairs = pairs_ahead();
  // The first pair does not count, and no single-call rounds follow it (paired.cpp).
  for (int pair = 0; pair <= pairs; ++pair) {
    if (!fits(calls)) return correct_so_far();
    if (Judgement ready = prepare_pair(sequence.next(false), false); !passed(ready)) return ready;
    if (pair == 0 || pair > singles) continue;
    if (!fits(1)) return correct_so_far();
    if (Judgement ready = prepare_pair(sequence.next(true), true); !passed(ready)) return ready;
  }
  return correct_so_far();
}

Judgement AheadRounds::prepare_pair(const NextPair& pair, bool single) {
  if (Judgement ready = prepare_one(pair.secret, pair.families); !passed(ready)) return ready;
  make_room_for_copies(ahead_.back().prepared.layout);
  if (!single || !fits(1)) return correct_so_far();
  return prepare_one(pair.warm_secret, pair.families);
}

Status AheadRounds::give_way() const {
  return m_.input.host.give_way == nullptr ? Status() : m_.input.host.give_way();
}

Judgement AheadRounds::prepare_one(std::uint64_t secret, const std::vector<std::size_t>& families) {
  if (Status gave = give_way(); !gave) return fault(gave.error());
  const double from_s = m_.input.now_s();
  auto prepared = prepare_timed(m_.input, secret, families, end_);
  if (!prepared) return fault(prepared.error());
  end_ = prepared->set.exact_layout().total;
  ahead_.push_back({std::move(*prepared), m_.input.now_s() - from_s});
  return correct_so_far();
}

/// Rationale: to allocate memory takes longer than a round, and to free it makes the device slower for a while. So the
/// memory is allocated before the pairs, by copies of outputs that are not used.
void AheadRounds::make_room_for_copies(const Layout& layout) {
  const std::uint64_t bytes = 2 * outputs_bytes(layout);
  if (copies_bytes_ + bytes > copies_bytes_max_) return;
  Copies copies;
  if (!copy_outputs(layout, copies)) return;
  copies_bytes_ += bytes;
  free_.push_back(std::move(copies));
}

/// Takes memory for the copies of this round; false: there is none. Rationale: the memory of a single-call round is too
/// small for a long one. More would then be allocated, beyond the limit and between two timed rounds.
bool AheadRounds::take_copies(const Layout& layout, Copies& copies) {
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const Copies& each) {
    return each.submission->bytes() >= outputs_bytes(layout);
  });
  if (found == free_.end()) return false;
  copies = std::move(*found);
  free_.erase(found);
  return true;
}

Status AheadRounds::copy_outputs(const Layout& layout, Copies& copies) const {
  Workbench& workbench = m_.input.workbench;
  const std::uint64_t begin = layout.outputs_begin, bytes = outputs_bytes(layout);
  HONE_TRY(workbench.snapshot(m_.input.submission.arena(), begin, bytes, copies.submission));
  return workbench.snapshot(m_.input.baseline.runner->arena(), begin, bytes, copies.baseline);
}

/// Inputs that were not made ahead are placed before begin_, so they overwrite none that were.
Result<PreparedRound> AheadRounds::prepare(std::uint64_t secret, std::vector<std::size_t> families,
                                           std::uint64_t at) {
  const bool is_of_pair = at == 0;
  if (is_of_pair) ahead_s_ = 0;
  if (!ahead_.empty() && ahead_.front().prepared.secret == secret &&
      ahead_.front().prepared.set.calls() == families.size()) {
    Ahead next = std::move(ahead_.front());
    ahead_.pop_front();
    if (is_of_pair) ahead_s_ = next.seconds;
    return std::move(next.prepared);
  }
  return prepare_timed(m_.input, secret, std::move(families),
                       end_ > begin_ && at > begin_ ? 0 : at);
}

bool AheadRounds::was_ahead(const PreparedRound& round) const {
  return end_ > begin_ && round.set.exact_layout().calls.front().front().begin >= begin_;
}

Judgement AheadRounds::check(PreparedRound timed) {
  const SessionInput& e = m_.input;
  const Arena &outputs = e.submission.arena(), &answers = e.baseline.runner->arena();
  Copied copied{std::move(timed), {}};
  const bool is_copied = e.holds(Defence::kTimedAnswers) && was_ahead(copied.prepared) &&
                         take_copies(copied.prepared.layout, copied.copies);
  if (is_copied) {
    if (Status made = copy_outputs(copied.prepared.layout, copied.copies); !made)
      return fault(made.error());
  }
  if (e.holds(Defence::kWitness)) {
    const Arena& seen = is_copied ? *copied.copies.submission : outputs;
    if (Judgement settled = expect_settled(e.submission, seen); !passed(settled)) return settled;
  }
  if (!e.holds(Defence::kTimedAnswers)) return correct_so_far();
  if (Judgement intact = m_.answers.inspect_timed(copied.prepared, outputs); !passed(intact))
    return intact;
  if (!is_copied) return m_.answers.compare_timed(std::move(copied.prepared), outputs, &answers);
  copied_.push_back(std::move(copied));
  return correct_so_far();
}

Judgement AheadRounds::check_copied() {
  for (Copied& round : copied_) {
    if (Status gave = give_way(); !gave) return fault(gave.error());
    if (Judgement compared = m_.answers.compare_timed(
            std::move(round.prepared), *round.copies.submission, round.copies.baseline.get());
        !passed(compared))
      return compared;
  }
  return correct_so_far();
}

}  // namespace hone
