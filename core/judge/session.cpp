// The correctness half of a session, and whether timed rounds were right; measure.cpp holds the other.
#include "judge/session.hpp"

#include <algorithm>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "model/caught.hpp"

namespace hone {

namespace {

constexpr double kObservedSeconds = 1;

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
                 Trusted reference, Trusted baseline, Runner& submission, Workbench& workbench,
                 SessionHost host)
    : task_(task),
      seed_(seed),
      settings_(settings),
      reference_(reference),
      baseline_(baseline),
      tolerances_(tolerances_of(task, reference.error)),
      submission_(submission),
      workbench_(workbench),
      host_(std::move(host)) {}

Session::~Session() {
  for (Later& round : later_) workbench_.keep_spare(std::move(round.outputs));
  workbench_.keep_spare(std::move(copy_));
  workbench_.keep_spare(std::move(beside_copy_));
}

Judgement Session::judge() {
  host_.progress(JudgeStage::kCheck);
  const std::vector<Trial> trials = plan_trials(task_, seed_, settings_.defences);
  for (std::size_t done = 0; done < trials.size();) {
    if (Judgement gave = give_way(); !passed(gave)) return gave;
    auto posed = pose(trials, done);
    if (!posed) return fault(posed.error());
    Judgement checked = check(*posed);
    if (!passed(checked)) return checked;
    done += posed->size();
    if (done < trials.size() || !submission_.observes()) continue;
    // Where nobody asks, a long call is not made once more.
    if (call_seconds_ > kObservedSeconds && task_.own_kernels == "optional") continue;
    if (Judgement observed = observe(posed->back()); !passed(observed)) return observed;
  }
  Judgement result = correct_so_far();
  if (settings_.measure) {
    host_.progress(JudgeStage::kMeasure);
    result = measure();
  }
  if (passed(result)) result.verdict.work = work_;
  return result;
}

/// One more call, watched from within. Rationale: some modules cannot be, which is no mistake of theirs; one that
/// does not come back from it would not come back from the next either.
Judgement Session::observe(const Posed& posed) {
  const Where where = place_of(Place::kCheck, posed.trial);
  if (Judgement ordered = order(posed.set, submission_, posed.layout, posed.secret,
                                posed.scratch_at, Culprit::kSubmission, where);
      !passed(ordered))
    return ordered;
  const Round round = one_call(Order::kObserved);
  if (round.ending == Ending::kDone) {
    if (auto work = work_from_json(submission_.observed())) work_ = std::move(*work);
    return correct_so_far();
  }
  const bool raised = round.ending == Ending::kException || round.ending == Ending::kRefused ||
                      round.ending == Ending::kMismatch;
  return raised ? correct_so_far() : blame(round, Culprit::kSubmission, where);
}

Round Session::one_call(Order order) {
  const bool host = workbench_.placement() == Placement::kCanaries;
  const Round round = host ? submission_.timed_round(order, 1, task_.run_seconds)
                           : submission_.plain_round(order, 1, task_.run_seconds);
  call_seconds_ = round.seconds;
  return round;
}

/// The next trials, with their inputs made. Rationale: what a device's memory holds is done together,
/// step by step, for each change between the judge's context, the submission's and the reference's
/// costs 150 µs, and a check of a small shape little else.
Result<std::vector<Session::Posed>> Session::pose(const std::vector<Trial>& trials,
                                                  std::size_t from) {
  const bool host = workbench_.placement() == Placement::kCanaries;
  const bool guards = host && settings_.defences.holds(Defence::kGuards);
  std::vector<Layout> layouts, exacts;
  std::uint64_t scratch = 0, exact_scratch = 0;
  for (std::size_t i = from; i < trials.size() && (layouts.empty() || !host); ++i) {
    const Trial& trial = trials[i];
    const Placement placement = guards ? trial.placement : workbench_.placement();
    const bool first = layouts.empty();
    HONE_ASSIGN(Layout layout,
                lay_out(task_, trial.dims, 1, placement, false, first ? 0 : layouts.back().total));
    HONE_ASSIGN(Layout exact, lay_out(task_, trial.dims, 1, Placement::kCanaries, true,
                                      first ? 0 : exacts.back().total));
    const std::uint64_t more = std::max(scratch, submission_.scratch_bytes(trial.dims));
    const std::uint64_t exact_more =
        std::max(exact_scratch, reference_.runner->scratch_bytes(trial.dims));
    if (!first && (layout.total + more > submission_.arena().bytes() ||
                   exact.total + exact_more > reference_.runner->arena().bytes()))
      break;
    scratch = more;
    exact_scratch = exact_more;
    layouts.push_back(std::move(layout));
    exacts.push_back(std::move(exact));
  }
  std::vector<Posed> posed;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const Trial& trial = trials[from + i];
    const std::uint64_t secret = derive_seed(seed_, "check", from + i);
    const SetPlace place{i == 0 ? 0 : exacts[i - 1].total, exacts.back().total};
    HONE_ASSIGN(InputSet set,
                InputSet::make(task_, trial.dims, {trial.family}, secret, *reference_.runner,
                               workbench_, settings_.defences, place));
    posed.push_back({trial, secret, std::move(layouts[i]), std::move(set), layouts.back().total});
  }
  return posed;
}

/// Whether outputs are as they were after their own round, or, before it, as they were poisoned.
/// Rationale: shapes that are checked together lie in memory together. A submission that does nothing
/// for a shape could have its outputs written in the round of another. These looks are the copy
/// engine's: they change no context.
Judgement Session::expect_as_seen(const Posed& posed) {
  const auto now = submission_.see(posed.layout, posed.secret);
  if (!now) return fault(now.error());
  if (*now == posed.seen) return correct_so_far();
  Judgement judged = wrong("wrote outside of its tensors: the outputs of " +
                           shape_text(posed.trial) + " changed in the round of another shape");
  judged.verdict.caught = caught::kWroteOutside;
  return judged;
}

Judgement Session::check(std::vector<Posed>& posed) {
  const auto where = [](const Posed& p) { return place_of(Place::kCheck, p.trial); };
  if (Status frozen = submission_.freeze(); !frozen)
    return frozen_badly(frozen.error(), Culprit::kSubmission, where(posed.front()));
  for (const Posed& p : posed) {
    if (Status loaded = p.set.load(submission_, p.layout, p.secret); !loaded)
      return fault(loaded.error());
  }
  const bool together = posed.size() > 1 && settings_.defences.holds(Defence::kOwnRound);
  const auto see = [&](Posed& p) -> Status {
    if (!together) return {};
    HONE_ASSIGN(p.seen, submission_.see(p.layout, p.secret));
    return {};
  };
  for (Posed& p : posed) {
    if (Status seen = see(p); !seen) return fault(seen.error());
  }
  for (Posed& p : posed) {
    if (together) {
      if (Judgement untouched = expect_as_seen(p); !passed(untouched)) return untouched;
    }
    if (Judgement ran = run_check(p, where(p)); !passed(ran)) return ran;
    if (Status seen = see(p); !seen) return fault(seen.error());
  }
  for (const Posed& p : posed) {
    if (!together) break;
    if (Judgement untouched = expect_as_seen(p); !passed(untouched)) return untouched;
  }
  return check_answers(posed, submission_.arena());
}

Judgement Session::run_check(const Posed& p, const Where& where) {
  submission_.set_guards(p.layout.guards);
  if (Judgement ordered =
          order(p.set, submission_, p.layout, p.secret, p.scratch_at, Culprit::kSubmission, where);
      !passed(ordered))
    return ordered;
  const Round round = one_call(Order::kRun);
  return round.ending == Ending::kDone ? correct_so_far()
                                       : blame(round, Culprit::kSubmission, where);
}

/// Rationale: an output equal to the reference's own answer is correct, whatever its rounding error. The exact answer can
/// take many times as long, so it is computed only on a mismatch. The reported mismatch is against the exact answer.
Judgement Session::compare(const Posed& posed, const Arena& outputs,
                           std::optional<Mismatch>& found) {
  auto mismatch = posed.set.compare(outputs, posed.layout, tolerances_);
  if (!mismatch) return fault(mismatch.error());
  found = std::move(*mismatch);
  if (!found || !task_.tolerance.from_reference) return correct_so_far();
  if (Judgement room = make_room_for_answer(posed.layout); !passed(room)) return room;
  const Round exact = posed.set.run_exact(kReferenceSeconds);
  if (exact.ending != Ending::kDone)
    return blame(exact, Culprit::kReference, place_of(Place::kAnswer, posed.trial));
  mismatch = posed.set.compare(outputs, posed.layout, tolerances_);
  if (!mismatch) return fault(mismatch.error());
  found = std::move(*mismatch);
  return correct_so_far();
}

Judgement Session::check_answers(std::vector<Posed>& posed, const Arena& outputs) {
  for (const Posed& p : posed) {
    const auto damage = p.set.damage(outputs, submission_.arena(), p.layout, p.secret);
    if (!damage) return fault(damage.error());
    if (damage->words.empty()) continue;
    Judgement judged = wrong(damage->words + " (" + shape_text(p.trial) + ")");
    judged.verdict.caught = damage->caught;
    return judged;
  }
  for (Posed& p : posed) {
    if (Judgement answered = answer(p); !passed(answered)) return answered;
  }
  for (const Posed& p : posed) {
    std::optional<Mismatch> mismatch;
    if (Judgement compared = compare(p, outputs, mismatch); !passed(compared)) return compared;
    if (!mismatch) continue;
    mismatch->shape = p.trial.hidden ? "hidden" : shape_text(p.trial);
    if (p.trial.hidden) hide(*mismatch);
    Judgement judged = wrong("output " + mismatch->tensor + " is wrong for " + shape_text(p.trial));
    judged.verdict.mismatch = std::move(mismatch);
    if (p.trial.hidden) judged.verdict.caught = caught::kWrongWhenHidden;
    return judged;
  }
  return correct_so_far();
}

/// What the clock stopped at, for inspection; null where outputs were written after it. Rationale: the host
/// code of a module runs on, and could change outputs between a look and the comparison, and back.
Result<const Arena*> Session::outputs_of_round(const Layout& layout) {
  const Arena* outputs = &submission_.arena();
  if (!settings_.defences.holds(Defence::kWitness)) return outputs;
  if (submission_.withholds()) {
    HONE_TRY(copy_outputs(submission_.arena(), layout, copy_));
    outputs = copy_.get();
  }
  HONE_ASSIGN(const bool settled, submission_.settled_in(*outputs));
  return settled ? outputs : nullptr;
}

/// Copies the outputs of a round. If its answers may be checked later, the inputs are copied too.
Status Session::copy_outputs(const Arena& from, const Layout& layout,
                             std::unique_ptr<Arena>& into) {
  const std::uint64_t begin = layout.total > later_bytes_max() ? layout.outputs_begin : 0;
  return workbench_.snapshot(from, begin, layout.total - begin, into);
}

/// Whether the submission's round that was just timed is what it was timed for.
Judgement Session::check_timed(Posed timed) {
  const auto outputs = outputs_of_round(timed.layout);
  if (!outputs) return fault(outputs.error());
  if (*outputs == nullptr) {
    Judgement late = cheated("outputs were written after the clock had stopped");
    late.verdict.caught = caught::kLateOutputs;
    return late;
  }
  if (!settings_.defences.holds(Defence::kTimedAnswers)) return correct_so_far();
  if (leaves_for_later(timed)) return correct_so_far();
  return check_timed_answers(std::move(timed), **outputs);
}

Judgement Session::check_timed_answers(Posed timed, const Arena& outputs) {
  std::vector<Posed> posed;
  posed.push_back(std::move(timed));
  Judgement answers = check_answers(posed, outputs);
  if (!passed(answers)) answers.verdict.stage = "measure";
  if (answers.verdict.mismatch) answers.verdict.caught = caught::kWrongWhenTimed;
  return answers;
}

}  // namespace hone
