#include "judge/timing/ahead_rounds.hpp"

#include <algorithm>
#include <utility>

#include "judge/spare_arenas.hpp"

namespace hone {
namespace {

// Least time of a pair besides its calls (s): inputs are loaded, and empty rounds run. Chosen low: a pair that is prepared and
// not timed costs memory only, while one that is prepared late keeps other lanes from the device (record 48).
constexpr double kPairCostSeconds = 2e-3;
// Inputs of rounds that begin within this many bytes may be made together. Rationale: while the judge makes the inputs of a
// group, lanes that want to measure wait.
constexpr std::uint64_t kTogetherBytes = 256u << 20;
// Target duration of making the inputs of a group (s), for the same reason. The time of each group sets the size of the next.
constexpr double kTogetherSeconds = 0.03;
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

/// Adds a round whose inputs lie behind those of the rounds before. False: they do not fit.
bool AheadRounds::add_order(std::uint64_t secret, const std::vector<std::size_t>& families,
                            std::vector<TimedOrder>& orders) {
  const std::uint64_t end = end_of_masters(m_.input, families.size(), end_);
  if (end == 0 || end > m_.input.reference.runner->arena().bytes()) return false;
  orders.push_back({secret, families, end_});
  end_ = end;
  return true;
}

/// The rounds of the first pairs, in order, until their inputs no longer fit.
std::vector<TimedOrder> AheadRounds::orders_ahead(RoundSequence sequence) {
  const SessionInput& e = m_.input;
  const int singles = has_single_rounds(e, m_.timings) ? e.settings.single_call_pairs : 0;
  const int pairs = pairs_ahead();
  std::vector<TimedOrder> orders;
  // The first pair does not count, and no single-call rounds follow it (paired.cpp).
  for (int pair = 0; pair <= pairs; ++pair) {
    const NextPair next = sequence.next(false);
    if (!add_order(next.secret, next.families, orders)) break;
    if (pair == 0 || pair > singles) continue;
    const NextPair single = sequence.next(true);
    if (!add_order(single.secret, single.families, orders)) break;
    add_order(single.warm_secret, single.families, orders);
  }
  return orders;
}

/// Rationale: a reference with scratch memory has it behind the inputs of its round, where the next round's would be.
Judgement AheadRounds::prepare_ahead(RoundSequence sequence) {
  const SessionInput& e = m_.input;
  if (e.reference.runner->scratch_bytes(e.task.timed) > 0) return correct_so_far();
  const std::uint64_t single = end_of_masters(e, 1, 0);
  begin_ = end_ = std::max(end_of_masters(e, m_.timings.calls, 0), end_of_masters(e, 1, single));
  std::vector<TimedOrder> some;
  std::size_t calls = 0,
              most = 1;  // calls of the group, and their limit; the first group is one round
  for (TimedOrder& order : orders_ahead(sequence)) {
    const bool is_enough = calls + order.families.size() > most ||
                           (!some.empty() && order.at - some.front().at > kTogetherBytes);
    if (is_enough && !some.empty()) {
      if (Judgement ready = prepare_some(std::exchange(some, {}), &most); !passed(ready))
        return ready;
      calls = 0;
    }
    calls += order.families.size();
    some.push_back(std::move(order));
  }
  return some.empty() ? correct_so_far() : prepare_some(std::move(some), &most);
}

Status AheadRounds::give_way() const {
  return m_.input.host.give_way == nullptr ? Status() : m_.input.host.give_way();
}

/// Makes the inputs of a group. `most`: set to the most calls of the next group.
Judgement AheadRounds::prepare_some(std::vector<TimedOrder> orders, std::size_t* most) {
  if (Status gave = give_way(); !gave) return fault(gave.error());
  const double from_s = m_.input.now_s();
  auto prepared = prepare_all_timed(m_.input, std::move(orders));
  if (!prepared) return fault(prepared.error());
  const double seconds = m_.input.now_s() - from_s;
  std::size_t calls = 0;
  for (const PreparedRound& round : *prepared) calls += round.set.calls();
  // Rationale: most of a short time can be waits for the device, and a larger group then takes little longer.
  const double enough = seconds < 2 * kTogetherSeconds ? 2 * static_cast<double>(calls) : 1;
  const double fit = kTogetherSeconds * static_cast<double>(calls) / std::max(seconds, 1e-9);
  *most = static_cast<std::size_t>(
      std::clamp(std::max(fit, enough), 1.0, static_cast<double>(kCallsMax)));
  for (PreparedRound& round : *prepared) {
    make_room_for_copies(round.layout);
    ahead_.push_back({std::move(round), seconds / static_cast<double>(prepared->size())});
  }
  return correct_so_far();
}

/// Rationale: to allocate memory takes longer than a round, and to free it makes the device slower for a while. So the
/// memory is allocated before the pairs.
void AheadRounds::make_room_for_copies(const Layout& layout) {
  const std::uint64_t bytes = outputs_bytes(layout);
  if (copies_bytes_ + 2 * bytes > copies_bytes_max_) return;
  Copies copies;
  Workbench& workbench = m_.input.workbench;
  if (!workbench.make_room(bytes, copies.submission)) return;
  if (!workbench.make_room(bytes, copies.baseline)) {
    workbench.keep_spare(std::move(copies.submission));
    return;
  }
  copies_bytes_ += 2 * bytes;
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
  return prepare_timed(m_.input,
                       {secret, std::move(families), end_ > begin_ && at > begin_ ? 0 : at});
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
  if (Status gave = give_way(); !gave) return fault(gave.error());
  std::vector<AnswerChecker::TimedOutputs> outputs;
  for (const Copied& round : copied_)
    outputs.push_back({round.prepared, *round.copies.submission, *round.copies.baseline});
  const auto settled = m_.answers.settled_by_baseline(outputs);
  if (!settled) return fault(settled.error());
  for (std::size_t i = 0; i < copied_.size(); ++i) {
    if ((*settled)[i]) continue;
    Copied& round = copied_[i];
    if (Status gave = give_way(); !gave) return fault(gave.error());
    if (Judgement compared = m_.answers.compare_timed(
            std::move(round.prepared), *round.copies.submission, round.copies.baseline.get());
        !passed(compared))
      return compared;
  }
  return correct_so_far();
}

}  // namespace hone
