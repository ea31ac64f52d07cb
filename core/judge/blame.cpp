#include "judge/blame.hpp"

#include <utility>

#include "model/caught.hpp"

namespace hone {

Judgement fault(const Error& error) {
  const bool memory = error.code == Code::kResourceExhausted;
  return {memory ? Ending::kOutOfMemory : Ending::kFault, Culprit::kNone, {}, error.message, {}};
}

Judgement blame(const Round& round, Culprit culprit, const Where& where) {
  if (round.ending == Ending::kMismatch && culprit == Culprit::kSubmission)
    return wrong(round.message);
  return {round.ending, culprit, where, round.message, {}, hindered_kind(round.flags)};
}

Judgement freeze_failure(const Error& error, Culprit culprit, const Where& where) {
  const Ending ending = error.code == Code::kNotFound            ? Ending::kDied
                        : error.code == Code::kResourceExhausted ? Ending::kStarved
                                                                 : Ending::kFault;
  return {ending, culprit, where, error.message, {}};
}

Judgement order(const InputSet& set, Runner& runner, const Layout& layout, std::uint64_t secret,
                std::uint64_t scratch_at, Culprit culprit, const Where& where) {
  const Status ordered = set.order(runner, layout, secret, scratch_at);
  if (ordered) return correct_so_far();
  if (ordered.error().code != Code::kInvalidArgument) return fault(ordered.error());
  return {Ending::kNotLaunchable, culprit, where, ordered.error().message, {}};
}

Judgement load(const InputSet& set, Runner& runner, const Layout& layout, std::uint64_t secret,
               Culprit culprit, const Where& where) {
  if (Status loaded = set.give(runner, layout, secret); !loaded) return fault(loaded.error());
  return order(set, runner, layout, secret, layout.total, culprit, where);
}

Judgement cheated(std::string reason) {
  Judgement judged = wrong(std::move(reason));
  judged.verdict.outcome = Outcome::kCheated;
  judged.verdict.stage = VerdictStage::kMeasure;
  judged.verdict.caught = caught::kBeyondPhysics;
  return judged;
}

Judgement wrong(std::string reason) {
  Judgement judged;
  judged.verdict.outcome = Outcome::kWrong;
  judged.verdict.stage = VerdictStage::kCheck;
  judged.verdict.reason = std::move(reason);
  return judged;
}

Judgement busy_device() {
  return fault(
      unavailable("the device is busy: other processes have work on it; end them, or configure "
                  "another device"));
}

Judgement correct_so_far() {
  Judgement judged;
  judged.verdict.outcome = Outcome::kCorrect;
  judged.verdict.stage = VerdictStage::kDone;
  return judged;
}

bool passed(const Judgement& judgement) {
  return judgement.ending == Ending::kDone && judgement.verdict.outcome == Outcome::kCorrect;
}

}  // namespace hone
