#include "judge/timing/processes/stored_rounds.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "judge/fill.hpp"
#include "judge/timing/processes/kept_rounds.hpp"

namespace hone {
namespace {

// Most bytes of outputs that are stored, and the divisor of their largest share of the device's memory. Chosen: what
// is stored is compared later, and memory_budget.cpp reserves as much.
constexpr std::uint64_t kStoredBytesMax = 2ull << 30, kStoredShareOfMemory = 64;
// Copies of the outputs of a submission's round: one to compare, one to store.
constexpr int kCopiesOfOutputs = 2;
// Contexts on a device with a module: of judge, reference, baseline and submission. Memory of each (bytes). The divisor of
// the share of the device's memory that stays free.
constexpr std::uint64_t kContexts = 4, kContextBytes = std::uint64_t{512} << 20, kReserveShare = 64;

// Pause before outputs are read, only in tests that switch the witness off. It lets an attack that writes outputs late succeed
// every time.
constexpr std::chrono::milliseconds kUnwitnessedDelay{50};

/// Upper bound of the memory that the reference takes besides its arena: inputs, parameters and outputs as double, and its own
/// outputs.
std::uint64_t reference_work(const Layout& layout) { return 3 * layout.total; }

}  // namespace

StoredRounds::StoredRounds(const Measurement& measurement, WithheldTimer& timer, Checks checks)
    : m_(measurement), timer_(timer), checks_(checks) {
  if (checks_ == Checks::kAtOnce) return;
  m_.answers.before_answers([this](const Layout& layout) { return make_room_for_answer(layout); });
}

StoredRounds::~StoredRounds() {
  m_.answers.before_answers(nullptr);
  for (Stored& round : stored_) m_.input.workbench.keep_spare(std::move(round.outputs));
  m_.input.workbench.keep_spare(std::move(copy_));
  m_.input.workbench.keep_spare(std::move(baseline_copy_));
}

Result<PreparedRound> StoredRounds::prepare(std::uint64_t secret, std::vector<std::size_t> families,
                                            std::uint64_t at) {
  return prepare_timed(m_.input, {secret, std::move(families), at});
}

/// Rationale: the host code of a module runs on, and could change outputs between the end of the round and the comparison, and
/// back. So a copy is compared, taken after the clock has stopped.
Judgement StoredRounds::check(PreparedRound timed) {
  const SessionInput& e = m_.input;
  const Arena* outputs = &e.submission.arena();
  if (e.holds(Defence::kWitness)) {
    if (Status copied = copy_outputs(e.submission.arena(), timed.layout, copy_); !copied)
      return fault(copied.error());
    outputs = copy_.get();
    if (Judgement settled = expect_settled(e.submission, *outputs); !passed(settled))
      return settled;
  } else {
    std::this_thread::sleep_for(kUnwitnessedDelay);
  }
  if (!e.holds(Defence::kTimedAnswers)) return correct_so_far();
  if (store(timed)) return correct_so_far();
  return m_.answers.check_timed(std::move(timed), *outputs);
}

std::uint64_t StoredRounds::end_of_inputs() const {
  const auto end = [](const PreparedRound& prepared) { return prepared.set.exact_layout().total; };
  const std::uint64_t single_call_end =
      single_call_ahead_.empty() ? 0 : end(single_call_ahead_.back());
  if (!ahead_.empty()) return std::max(end(ahead_.back()), single_call_end);
  return stored_.empty() ? single_call_end
                         : std::max(end(stored_.back().prepared), single_call_end);
}

bool StoredRounds::has_room(std::size_t calls) const {
  const Task& task = m_.input.task;
  const auto next = lay_out(task, task.timed, calls, Placement::kCanaries, true, end_of_inputs());
  return next && next->total <= m_.input.reference.runner->arena().bytes();
}

std::uint64_t StoredRounds::next_secret() {
  const std::size_t number = secrets_++;
  const bool fresh = m_.input.holds(Defence::kFreshInputs);
  return derive_seed(m_.input.seed, "alone", fresh ? number : 0);
}

Result<PreparedRound> StoredRounds::prepare_next(std::size_t calls) {
  return prepare(next_secret(), std::vector<std::size_t>(calls), end_of_inputs());
}

/// Whether fewer of the next rounds have inputs, and there is room for more; for one round there always is.
bool StoredRounds::lacks_inputs(std::size_t calls, int rounds) const {
  return static_cast<int>(ahead_.size()) < rounds && (ahead_.empty() || has_room(calls));
}

Judgement StoredRounds::prepare_one(std::size_t calls, std::deque<PreparedRound>& to) {
  const SessionInput& e = m_.input;
  const auto layout = lay_out(e.task, e.task.timed, calls, e.workbench.placement(), false);
  if (!layout) return fault(layout.error());
  const bool scarce = lacks_room_for_answer(*layout);
  // Rationale: the reference takes the most memory, for inputs and for answers. If memory is scarce, both come before the
  // round, when there is no copy of outputs yet.
  if (scarce) {
    copy_.reset();
    if (Judgement room = timer_.trim_baseline(); !passed(room)) return room;
  }
  auto prepared = prepare_next(calls);
  if (!prepared) return fault(prepared.error());
  to.push_back(std::move(*prepared));
  return scarce ? m_.answers.answer(to.back()) : correct_so_far();
}

/// Rationale: to prepare a round takes longer than the round. If a core waits for that before each of them, its caches lose
/// their contents, while the baseline gets the same inputs again: a module of microseconds lost a third by it.
Judgement StoredRounds::prepare_ahead(std::size_t calls, int rounds) {
  if (ahead_.empty() && !has_room(calls)) {
    single_call_ahead_.clear();
    if (Judgement judged = check_stored(); !passed(judged)) return judged;
  }
  while (lacks_inputs(calls, rounds)) {
    if (Judgement ready = prepare_one(calls, ahead_); !passed(ready)) return ready;
  }
  return correct_so_far();
}

Judgement StoredRounds::work_ahead(std::size_t calls, int rounds, int single_call_rounds) {
  if (Judgement ready = prepare_ahead(calls, rounds); !passed(ready)) return ready;
  while (static_cast<int>(single_call_ahead_.size()) < single_call_rounds && has_room(1)) {
    if (Judgement ready = prepare_one(1, single_call_ahead_); !passed(ready)) return ready;
  }
  for (std::deque<PreparedRound>* all : {&ahead_, &single_call_ahead_}) {
    for (PreparedRound& prepared : *all) {
      if (Judgement answered = m_.answers.answer(prepared); !passed(answered)) return answered;
    }
  }
  return correct_so_far();
}

PreparedRound StoredRounds::take_next() {
  PreparedRound next = std::move(ahead_.front());
  ahead_.pop_front();
  return next;
}

void StoredRounds::take_single_rounds() { ahead_ = std::exchange(single_call_ahead_, {}); }

/// Rationale: if the device is short of memory, torch gives memory back and takes it again within a call, and which side does
/// says nothing about their code: copies of losses over 17 GB of inputs had speedups of up to 1.4.
bool StoredRounds::is_short_of_memory() const {
  const SessionInput& e = m_.input;
  const std::uint64_t bytes = e.workbench.memory_bytes();
  if (bytes == 0 || !e.reference.error) return false;
  const std::uint64_t needed = e.reference.runner->arena().bytes() +
                               e.baseline.runner->arena().bytes() + e.submission.arena().bytes() +
                               (copy_ == nullptr ? 0 : copy_->bytes()) +
                               2 * e.reference.error->memory_bytes + kContexts * kContextBytes;
  return needed > bytes - bytes / kReserveShare;
}

std::uint64_t StoredRounds::stored_bytes_max() const {
  return std::min(kStoredBytesMax, m_.input.workbench.memory_bytes() / kStoredShareOfMemory);
}

bool StoredRounds::is_large(const Layout& layout) const {
  return has_one_copy(layout.total, m_.input.workbench.memory_bytes());
}

bool StoredRounds::lacks_room_for_answer(const Layout& layout) const {
  return checks_ == Checks::kLater && is_large(layout) &&
         !m_.input.workbench.has_free(reference_work(layout));
}

/// Rationale: a baseline that gives back its memory needs one more call before it is timed, and a submission does not have
/// one. So this is done while nothing is timed.
Judgement StoredRounds::make_room_for_answer(const Layout& layout) {
  return lacks_room_for_answer(layout) ? timer_.trim_baseline() : correct_so_far();
}

/// Copies the outputs of a round. If its answers may be checked later, the inputs are copied, too.
Status StoredRounds::copy_outputs(const Arena& from, const Layout& layout,
                                  std::unique_ptr<Arena>& into) {
  const std::uint64_t begin = layout.total > stored_bytes_max() ? layout.outputs_begin : 0;
  return m_.input.workbench.snapshot(from, begin, layout.total - begin, into);
}

Status StoredRounds::copy_of_baseline(const Layout& layout) {
  auto& copy = is_large(layout) ? copy_ : baseline_copy_;
  for (int i = 0; i < kCopiesOfOutputs; ++i)
    HONE_TRY(copy_outputs(m_.input.baseline.runner->arena(), layout, copy));
  return {};
}

/// Keeps a copy of the round's outputs, to be checked later. False if there is no memory for it.
bool StoredRounds::store(PreparedRound& timed) {
  const std::uint64_t bytes = timed.layout.total;
  if (checks_ == Checks::kAtOnce || copy_ == nullptr || stored_bytes_ + bytes > stored_bytes_max())
    return false;
  std::unique_ptr<Arena> outputs;
  if (!m_.input.workbench.snapshot(*copy_, 0, bytes, outputs)) return false;
  stored_bytes_ += bytes;
  stored_.push_back({std::move(timed), std::move(outputs)});
  return true;
}

Judgement StoredRounds::check_stored() {
  for (Stored& round : stored_) {
    const Judgement judged = m_.answers.check_timed(std::move(round.prepared), *round.outputs);
    m_.input.workbench.keep_spare(std::move(round.outputs));
    if (!passed(judged)) return judged;
  }
  stored_.clear();
  stored_bytes_ = 0;
  return correct_so_far();
}

double StoredRounds::owed_s() const {
  double calls = 0;
  for (const Stored& round : stored_) {
    if (!round.prepared.answered) calls += static_cast<double>(round.prepared.set.calls());
  }
  return calls * m_.input.baseline.answer_seconds;
}

}  // namespace hone
