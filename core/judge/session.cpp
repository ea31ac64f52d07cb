// The correctness half of a session; measure.cpp holds the other.
#include "judge/session.hpp"

#include <algorithm>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "model/caught.hpp"

namespace hone {

namespace {

/// What a hidden shape was must not be told: no place in it, and counts in thousandths.
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

Session::Session(const Task& task, std::uint64_t seed, const MeasureSettings& settings,
                 Trusted reference, Trusted baseline, Runner& submission, Workbench& workbench)
    : task_(task),
      seed_(seed),
      settings_(settings),
      reference_(reference),
      baseline_(baseline),
      submission_(submission),
      workbench_(workbench) {}

Judgement Session::judge(const std::function<void(const char*)>& progress) {
  progress("checking");
  const std::vector<Trial> trials = plan_trials(task_, seed_, settings_.defences);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    Judgement checked = check(trials[i], i);
    if (!passed(checked)) return checked;
  }
  Judgement result = correct_so_far();
  if (!settings_.measure) return result;
  progress("measuring");
  return measure();
}

Judgement Session::check(const Trial& trial, std::size_t number) {
  const std::string where =
      "a check of " + std::string(trial.hidden ? "" : "shape ") + shape_text(trial);
  const std::uint64_t secret = derive_seed(seed_, "check", number);
  auto set = InputSet::make(task_, trial.dims, trial.family, 1, secret, *reference_.runner,
                            workbench_, settings_.defences);
  if (!set) return fault(set.error());
  const bool guards =
      settings_.defences.holds(Defence::kGuards) && workbench_.placement() == Placement::kCanaries;
  const Placement placement = guards ? trial.placement : workbench_.placement();
  auto layout = lay_out(task_, trial.dims, 1, placement, false);
  if (!layout) return fault(layout.error());

  if (Status frozen = submission_.freeze(); !frozen)
    return frozen_badly(frozen.error(), "submission", where);
  submission_.set_guards(layout->guards);
  if (Judgement loaded = load(*set, submission_, *layout, secret, "submission", where);
      !passed(loaded))
    return loaded;
  const Round round = submission_.timed_round(Order::kRun, 1, task_.run_seconds);
  if (round.ending != Ending::kDone) return blame(round, "submission", where);
  return check_answers(*set, *layout, trial, secret);
}

Judgement Session::check_answers(const InputSet& set, const Layout& layout, const Trial& trial,
                                 std::uint64_t secret) {
  const auto settled = submission_.outputs_settled();
  if (!settled) return fault(settled.error());
  if (!*settled && settings_.defences.holds(Defence::kWitness)) {
    Judgement judged = cheated("outputs were written after the clock had stopped");
    judged.verdict.caught = caught::kLateOutputs;
    return judged;
  }
  const auto damage = set.damage(submission_, layout, secret);
  if (!damage) return fault(damage.error());
  if (!damage->words.empty()) {
    Judgement judged = wrong(damage->words + " (" + shape_text(trial) + ")");
    judged.verdict.caught = damage->caught;
    return judged;
  }
  const Round exact = set.run_exact(kReferenceSeconds);
  if (exact.ending != Ending::kDone) return blame(exact, "reference", shape_text(trial));
  auto mismatch = set.compare(submission_, layout);
  if (!mismatch) return fault(mismatch.error());
  if (!*mismatch) return correct_so_far();
  (*mismatch)->shape = trial.hidden ? "hidden" : shape_text(trial);
  (*mismatch)->family = task_.families[trial.family].name;
  if (trial.hidden) hide(**mismatch);
  Judgement judged = wrong("output " + (*mismatch)->tensor + " is wrong for " + shape_text(trial));
  judged.verdict.mismatch = std::move(*mismatch);
  if (trial.hidden) judged.verdict.caught = caught::kWrongWhenHidden;
  return judged;
}

}  // namespace hone
