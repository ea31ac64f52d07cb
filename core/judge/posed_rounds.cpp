// The inputs of a module's rounds, made before them, and their answers, checked after them: both lie in the reference's
// arena, one round behind the other, while there is room.
#include <algorithm>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/kept_rounds.hpp"
#include "judge/session.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kLaterBytesMax = 2ull << 30;  // of answers that are checked at last,
constexpr std::uint64_t kLaterShareOfMemory = 64;     // and the device's over this

bool is_large(const Layout& layout) { return layout.total > kOneCopyBytes; }

/// At most what the reference takes besides its arena: inputs, parameters and outputs as double, and its own outputs.
std::uint64_t reference_work(const Layout& layout) { return 3 * layout.total; }

}  // namespace

/// The end of the inputs that are kept for later, and of those that were made ahead.
std::uint64_t Session::end_of_inputs() const {
  const auto end = [](const Posed& posed) { return posed.set.exact_layout().total; };
  const std::uint64_t singles = singles_ahead_.empty() ? 0 : end(singles_ahead_.back());
  if (!ahead_.empty()) return std::max(end(ahead_.back()), singles);
  return later_.empty() ? singles : std::max(end(later_.back().posed), singles);
}

bool Session::has_room(std::size_t calls) const {
  const auto next = lay_out(task_, task_.timed, calls, Placement::kCanaries, true, end_of_inputs());
  return next && next->total <= reference_.runner->arena().bytes();
}

std::uint64_t Session::next_secret() {
  const std::size_t number = measured_.secrets++;
  return derive_seed(seed_, "alone", settings_.defences.holds(Defence::kFreshInputs) ? number : 0);
}

/// Whether fewer of the submission's next rounds have inputs, and there is room for more: for one there always is.
bool Session::lacks_inputs(std::size_t calls, int rounds) const {
  return static_cast<int>(ahead_.size()) < rounds && (ahead_.empty() || has_room(calls));
}

/// Of the submission's next round.
Judgement Session::pose_one(std::size_t calls, std::deque<Posed>& to) {
  const auto layout = lay_out(task_, task_.timed, calls, workbench_.placement(), false);
  if (!layout) return fault(layout.error());
  const bool scarce = lacks_room_for_answer(*layout);
  // Rationale: the reference takes the most memory, for inputs and for answers. Where there is little of it, both come
  // before the round, when there is no copy of outputs yet.
  if (scarce) {
    copy_.reset();
    if (Judgement room = trim_baseline(); !passed(room)) return room;
  }
  auto posed = pose_timed(next_secret(), std::vector<std::size_t>(calls), end_of_inputs());
  if (!posed) return fault(posed.error());
  to.push_back(std::move(*posed));
  return scarce ? answer(to.back()) : correct_so_far();
}

/// Makes the inputs of the submission's next rounds, one at least, while there is room. Rationale: that takes longer than
/// a round. A core that waits so long for each of them has lost what its caches held, and the baseline's, which has the
/// same inputs again, has not: a module of microseconds lost a third by it.
Judgement Session::pose_ahead(std::size_t calls, int rounds) {
  if (ahead_.empty() && !has_room(calls)) {
    singles_ahead_.clear();
    if (Judgement judged = check_later(); !passed(judged)) return judged;
  }
  while (lacks_inputs(calls, rounds)) {
    if (Judgement posed = pose_one(calls, ahead_); !passed(posed)) return posed;
  }
  return correct_so_far();
}

/// What is to be done anyway, while others make the device's contexts and nothing can be timed: the inputs of the next
/// rounds, so many at the most, and of those of one call, and their answers.
Judgement Session::work_ahead(std::size_t calls, int rounds, int singles) {
  if (Judgement posed = pose_ahead(calls, rounds); !passed(posed)) return posed;
  while (static_cast<int>(singles_ahead_.size()) < singles && has_room(1)) {
    if (Judgement posed = pose_one(1, singles_ahead_); !passed(posed)) return posed;
  }
  for (std::deque<Posed>* all : {&ahead_, &singles_ahead_}) {
    for (Posed& posed : *all) {
      if (Judgement gave = give_way(); !passed(gave)) return gave;
      if (Judgement answered = answer(posed); !passed(answered)) return answered;
    }
  }
  return correct_so_far();
}

/// Whether the device cannot hold what both sides' calls need at once. Rationale: torch then gives memory back and asks for
/// it again within a call, and which side does says nothing about their code: copies of losses over 17 GB of inputs had
/// speedups of up to 1.4.
bool Session::is_short_of_memory() const {
  constexpr std::uint64_t kContexts = 4, kContextBytes = std::uint64_t{512} << 20,
                          kReserveShare = 64;
  const std::uint64_t bytes = workbench_.memory_bytes();
  if (bytes == 0 || !reference_.error || !alone()) return false;
  const std::uint64_t needed = reference_.runner->arena().bytes() +
                               baseline_.runner->arena().bytes() + submission_.arena().bytes() +
                               (copy_ == nullptr ? 0 : copy_->bytes()) +
                               2 * reference_.error->memory_bytes + kContexts * kContextBytes;
  return needed > bytes - bytes / kReserveShare;
}

std::uint64_t Session::later_bytes_max() const {
  return std::min(kLaterBytesMax, workbench_.memory_bytes() / kLaterShareOfMemory);
}

/// Whether the device has less memory left than the reference may take. Rationale: a baseline that gives back what it holds
/// needs a call more before it is timed, which a submission has not.
bool Session::lacks_room_for_answer(const Layout& layout) {
  return alone() && is_large(layout) && !workbench_.has_free(reference_work(layout));
}

/// Where the device lacks room for an answer: the reference takes the most memory, and does so while nothing is timed.
Judgement Session::make_room_for_answer(const Layout& layout) {
  if (!lacks_room_for_answer(layout)) return correct_so_far();
  return trim_baseline();
}

Judgement Session::trim_baseline() {
  if (baseline_.runner == reference_.runner || !baseline_.runner->withholds())
    return correct_so_far();
  const Round trimmed = baseline_.runner->trim();
  trimmed_ = true;
  return trimmed.ending == Ending::kDone
             ? correct_so_far()
             : blame(trimmed, Culprit::kBaseline, {Place::kMeasurement});
}

/// The reference's answers to these inputs, once.
Judgement Session::answer(Posed& posed) {
  if (posed.answered) return correct_so_far();
  if (Judgement room = make_room_for_answer(posed.layout); !passed(room)) return room;
  const Round answers = posed.set.run_answers(kReferenceSeconds);
  if (answers.ending != Ending::kDone)
    return blame(answers, Culprit::kReference, place_of(Place::kAnswer, posed.trial));
  posed.answered = true;
  return correct_so_far();
}

/// Whether the answers of this round are kept, and not looked at now. Not where there is no memory for them.
bool Session::leaves_for_later(Posed& timed) {
  const std::uint64_t bytes = timed.layout.total;
  if (!alone() || copy_ == nullptr || later_bytes_ + bytes > later_bytes_max()) return false;
  std::unique_ptr<Arena> outputs;
  if (!workbench_.snapshot(*copy_, 0, bytes, outputs)) return false;
  later_bytes_ += bytes;
  later_.push_back({std::move(timed), std::move(outputs)});
  return true;
}

Judgement Session::check_later() {
  for (Later& round : later_) {
    if (Judgement gave = give_way(); !passed(gave)) return gave;
    const Judgement judged = check_timed_answers(std::move(round.posed), *round.outputs);
    workbench_.keep_spare(std::move(round.outputs));
    if (!passed(judged)) return judged;
  }
  later_.clear();
  later_bytes_ = 0;
  return correct_so_far();
}

/// What checking what is kept will take.
double Session::owed_s() const {
  double calls = 0;
  for (const Later& round : later_) {
    if (!round.posed.answered) calls += static_cast<double>(round.posed.set.calls());
  }
  return calls * baseline_.answer_seconds;
}

}  // namespace hone
