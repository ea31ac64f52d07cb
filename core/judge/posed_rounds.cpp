// The inputs of a module's rounds, made before them, and their answers, checked after them: both lie in the reference's
// arena, one round behind the other, while there is room.
#include <algorithm>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/session.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kLaterBytesMax = 2ull << 30;  // of answers that are checked at last,
constexpr std::uint64_t kLaterShareOfMemory = 64;     // and the device's over this

}  // namespace

/// The end of the inputs that are kept for later, and of those that were made ahead.
std::uint64_t Session::end_of_inputs() const {
  if (!ahead_.empty()) return ahead_.back().set.exact_layout().total;
  return later_.empty() ? 0 : later_.back().posed.set.exact_layout().total;
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
Judgement Session::pose_one(std::size_t calls) {
  auto posed = pose_timed(next_secret(), calls, end_of_inputs());
  if (!posed) return fault(posed.error());
  ahead_.push_back(std::move(*posed));
  return correct_so_far();
}

/// Makes the inputs of the submission's next rounds, one at least, while there is room. Rationale: that takes longer than
/// a round. A core that waits so long for each of them has lost what its caches held, and the baseline's, which has the
/// same inputs again, has not: a module of microseconds lost a third by it.
Judgement Session::pose_ahead(std::size_t calls, int rounds) {
  if (ahead_.empty() && !has_room(calls)) {
    if (Judgement judged = check_later(); !passed(judged)) return judged;
  }
  while (lacks_inputs(calls, rounds)) {
    if (Judgement posed = pose_one(calls); !passed(posed)) return posed;
  }
  return correct_so_far();
}

/// What is to be done anyway, while others make the device's contexts and nothing can be timed: the inputs of the next
/// rounds, so many at the most, and their answers.
Judgement Session::work_ahead(std::size_t calls, int rounds, bool* more) {
  *more = true;
  if (lacks_inputs(calls, rounds)) return pose_one(calls);
  const auto next = std::find_if(ahead_.begin(), ahead_.end(),
                                 [](const Posed& posed) { return !posed.answered; });
  *more = next != ahead_.end();
  return *more ? answer(*next) : correct_so_far();
}

/// The reference's answers to these inputs, once.
Judgement Session::answer(Posed& posed) {
  if (posed.answered) return correct_so_far();
  const Round exact = posed.set.run_exact(kReferenceSeconds);
  if (exact.ending != Ending::kDone) return blame(exact, "reference", shape_text(posed.trial));
  posed.answered = true;
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
  for (const Later& round : later_) {
    if (!round.posed.answered) calls += static_cast<double>(round.posed.set.calls());
  }
  return calls * baseline_.exact_seconds;
}

}  // namespace hone
