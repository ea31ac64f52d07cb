#include "judge/checking/answer_checker.hpp"

#include <utility>

#include "judge/blame.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

/// A hidden shape must stay secret: no index, and counts in thousandths.
void hide(Mismatch& mismatch) {
  mismatch.index.clear();
  const auto thousandths = [&](std::int64_t count) {
    return (count * 1000 + mismatch.total - 1) / mismatch.total;
  };
  mismatch.wrong = thousandths(mismatch.wrong);
  mismatch.nans = thousandths(mismatch.nans);
  mismatch.total = 1000;
}

}  // namespace

AnswerChecker::AnswerChecker(const SessionInput& input)
    : input_(input), tolerances_(tolerances_of(input.task, input.reference.error)) {}

Judgement AnswerChecker::make_room(const Layout& layout) const {
  return make_room_ == nullptr ? correct_so_far() : make_room_(layout);
}

Judgement AnswerChecker::answer(PreparedRound& prepared) const {
  if (prepared.answered) return correct_so_far();
  if (Judgement room = make_room(prepared.layout); !passed(room)) return room;
  const Round answers = prepared.set.run_answers(kReferenceSeconds);
  if (answers.ending != Ending::kDone)
    return blame(answers, Culprit::kReference, place_of(Place::kAnswer, prepared.trial));
  prepared.answered = true;
  return correct_so_far();
}

/// Rationale: an output equal to the reference's own answer is correct, whatever its rounding error. The exact answer can
/// take many times as long, so it is computed only on a mismatch. The reported mismatch is against the exact answer.
Judgement AnswerChecker::compare(const PreparedRound& prepared, const Arena& outputs,
                                 std::optional<Mismatch>& found) const {
  auto mismatch = prepared.set.compare(outputs, prepared.layout, tolerances_);
  if (!mismatch) return fault(mismatch.error());
  found = std::move(*mismatch);
  if (!found || !input_.task.tolerance.from_reference) return correct_so_far();
  return compare_exact(prepared, outputs, found);
}

Judgement AnswerChecker::compare_exact(const PreparedRound& prepared, const Arena& outputs,
                                       std::optional<Mismatch>& found) const {
  if (Judgement room = make_room(prepared.layout); !passed(room)) return room;
  const Round exact = prepared.set.run_exact(kReferenceSeconds);
  if (exact.ending != Ending::kDone)
    return blame(exact, Culprit::kReference, place_of(Place::kAnswer, prepared.trial));
  auto mismatch = prepared.set.compare(outputs, prepared.layout, tolerances_);
  if (!mismatch) return fault(mismatch.error());
  found = std::move(*mismatch);
  return correct_so_far();
}

/// Rationale: outputs that differ from the baseline's differ from the reference's own answer, too, with few exceptions.
Judgement AnswerChecker::compare_exact_first(PreparedRound& prepared, const Arena& outputs,
                                             std::optional<Mismatch>& found) const {
  if (Judgement compared = compare_exact(prepared, outputs, found); !passed(compared))
    return compared;
  if (!found) return correct_so_far();
  if (Judgement answered = answer(prepared); !passed(answered)) return answered;
  const auto from_own = prepared.set.compare(outputs, prepared.layout, tolerances_);
  if (!from_own) return fault(from_own.error());
  if (!*from_own) found.reset();
  return correct_so_far();
}

Judgement AnswerChecker::inspect(const PreparedRound& prepared, const Arena& outputs) const {
  const auto damage =
      prepared.set.damage(outputs, input_.submission.arena(), prepared.layout, prepared.secret);
  if (!damage) return fault(damage.error());
  if (damage->words.empty()) return correct_so_far();
  Judgement judged = wrong(damage->words + " (" + shape_text(prepared.trial) + ")");
  judged.verdict.caught = damage->caught;
  return judged;
}

Judgement AnswerChecker::check(std::vector<PreparedRound>& prepared, const Arena& outputs) const {
  for (const PreparedRound& p : prepared) {
    if (Judgement intact = inspect(p, outputs); !passed(intact)) return intact;
  }
  return compare_all(prepared, outputs);
}

Judgement AnswerChecker::compare_all(std::vector<PreparedRound>& prepared,
                                     const Arena& outputs) const {
  for (PreparedRound& p : prepared) {
    if (Judgement answered = answer(p); !passed(answered)) return answered;
  }
  for (const PreparedRound& p : prepared) {
    std::optional<Mismatch> mismatch;
    if (Judgement compared = compare(p, outputs, mismatch); !passed(compared)) return compared;
    if (mismatch) return judge_mismatch(p, std::move(mismatch));
  }
  return correct_so_far();
}

Judgement AnswerChecker::judge_mismatch(const PreparedRound& p,
                                        std::optional<Mismatch> mismatch) const {
  mismatch->shape = p.trial.hidden ? "hidden" : shape_text(p.trial);
  if (p.trial.hidden) hide(*mismatch);
  Judgement judged = wrong("output " + mismatch->tensor + " is wrong for " + shape_text(p.trial));
  judged.verdict.mismatch = std::move(mismatch);
  if (p.trial.hidden) judged.verdict.caught = caught::kWrongWhenHidden;
  return judged;
}

bool AnswerChecker::answers_by_baseline() const {
  return input_.task.tolerance.from_reference && input_.workbench.placement() == Placement::kDevice;
}

Judgement AnswerChecker::inspect_timed(const PreparedRound& timed, const Arena& outputs) const {
  Judgement intact = inspect(timed, outputs);
  if (!passed(intact)) intact.verdict.stage = VerdictStage::kMeasure;
  return intact;
}

Result<std::vector<bool>> AnswerChecker::settled_by_baseline(
    const std::vector<TimedOutputs>& rounds) const {
  if (!answers_by_baseline()) return std::vector<bool>(rounds.size(), false);
  std::vector<CompareGroup> groups;
  for (const TimedOutputs& round : rounds)
    groups.push_back(round.timed.set.compare_group(round.outputs, round.answers, round.timed.layout,
                                                   tolerances_));
  return input_.workbench.agree(groups);
}

/// Rationale: the baseline was just timed with the same inputs, so comparing with its outputs saves a call of the reference.
/// A mismatch with them is no verdict: the exact answer and then the reference's own answer decide.
Judgement AnswerChecker::compare_timed(PreparedRound timed, const Arena& outputs,
                                       const Arena* answers) const {
  Judgement compared;
  if (answers != nullptr && answers_by_baseline()) {
    const CompareGroup group =
        timed.set.compare_group(outputs, *answers, timed.layout, tolerances_);
    const auto differs = input_.workbench.compare(outputs, *answers, group.orders);
    if (!differs) return fault(differs.error());
    if (!*differs) return correct_so_far();
    std::optional<Mismatch> mismatch;
    compared = compare_exact_first(timed, outputs, mismatch);
    if (passed(compared) && mismatch) compared = judge_mismatch(timed, std::move(mismatch));
  } else {
    std::vector<PreparedRound> prepared;
    prepared.push_back(std::move(timed));
    compared = compare_all(prepared, outputs);
  }
  if (!passed(compared)) compared.verdict.stage = VerdictStage::kMeasure;
  if (compared.verdict.mismatch) compared.verdict.caught = caught::kWrongWhenTimed;
  return compared;
}

Judgement AnswerChecker::check_timed(PreparedRound timed, const Arena& outputs) const {
  if (Judgement intact = inspect_timed(timed, outputs); !passed(intact)) return intact;
  return compare_timed(std::move(timed), outputs, nullptr);
}

}  // namespace hone
