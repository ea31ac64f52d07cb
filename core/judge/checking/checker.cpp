#include "judge/checking/checker.hpp"

#include <algorithm>
#include <utility>

#include "judge/blame.hpp"
#include "judge/call_limit.hpp"
#include "judge/fill.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

// Longest call that is made once more to be traced, where the task does not ask for own kernels (docs/modules-reference.md).
constexpr double kTracedSeconds = 1;

Where place_of_check(const PreparedRound& prepared) {
  return place_of(Place::kCheck, prepared.trial);
}

}  // namespace

Checker::Checker(const SessionInput& input, const AnswerChecker& answers)
    : input_(input),
      answers_(answers),
      on_host_(input.workbench.placement() == Placement::kCanaries) {}

Judgement Checker::check_all() {
  const SessionInput& e = input_;
  const std::vector<Trial> trials =
      plan_trials(e.task, e.seed, e.settings.defences, e.settings.shown_only);
  for (std::size_t done = 0; done < trials.size();) {
    auto prepared = prepare(trials, done);
    if (!prepared) return fault(prepared.error());
    if (Judgement checked = check(*prepared); !passed(checked)) return checked;
    done += prepared->size();
    if (done < trials.size() || !e.submission.observes()) continue;
    if (call_seconds_ > kTracedSeconds && e.task.own_kernels == "optional") continue;
    if (Judgement traced = trace(prepared->back()); !passed(traced)) return traced;
  }
  return correct_so_far();
}

/// One more call, traced by the submission's interpreter. Rationale: some modules cannot be traced, which is no mistake of
/// theirs. A module that does not return from this call would not return from the next either.
Judgement Checker::trace(const PreparedRound& prepared) {
  Runner& submission = input_.submission;
  const Where where = place_of_check(prepared);
  if (Judgement ordered = order(prepared.set, submission, prepared.layout, prepared.secret,
                                prepared.scratch_at, Culprit::kSubmission, where);
      !passed(ordered))
    return ordered;
  const Round round = one_call(Order::kObserved, prepared.trial.dims);
  if (round.ending == Ending::kDone) {
    if (auto work = work_from_json(submission.observed())) work_ = std::move(*work);
    return correct_so_far();
  }
  const bool raised = round.ending == Ending::kException || round.ending == Ending::kRefused ||
                      round.ending == Ending::kMismatch;
  return raised ? correct_so_far() : blame(round, Culprit::kSubmission, where);
}

Round Checker::one_call(Order order, const Dims& dims) {
  const CallLimit limit = call_limit(input_, dims, 1, !std::exchange(has_called_, true));
  const Round round = with_reason(on_host_ ? input_.submission.timed_round(order, 1, limit.seconds)
                                           : input_.submission.plain_round(order, 1, limit.seconds),
                                  limit);
  call_seconds_ = round.seconds;
  return round;
}

/// Prepares the next trials: one on the host, as many as fit on a device. Rationale: each change between the contexts of
/// judge, submission and reference costs 150 µs on a device, and a check of a small shape little else. So trials that fit into
/// memory together go through each step together.
Result<std::vector<PreparedRound>> Checker::prepare(const std::vector<Trial>& trials,
                                                    std::size_t from) {
  const SessionInput& e = input_;
  const bool guards = on_host_ && e.holds(Defence::kGuards);
  std::vector<Layout> layouts, exacts;
  std::uint64_t scratch = 0, exact_scratch = 0;
  for (std::size_t i = from; i < trials.size() && (layouts.empty() || !on_host_); ++i) {
    const Trial& trial = trials[i];
    const Placement placement = guards ? trial.placement : e.workbench.placement();
    const bool first = layouts.empty();
    HONE_ASSIGN(Layout layout,
                lay_out(e.task, trial.dims, 1, placement, false, first ? 0 : layouts.back().total));
    HONE_ASSIGN(Layout exact, lay_out(e.task, trial.dims, 1, Placement::kCanaries, true,
                                      first ? 0 : exacts.back().total));
    const std::uint64_t more = std::max(scratch, e.submission.scratch_bytes(trial.dims));
    const std::uint64_t exact_more =
        std::max(exact_scratch, e.reference.runner->scratch_bytes(trial.dims));
    if (!first && (layout.total + more > e.submission.arena().bytes() ||
                   exact.total + exact_more > e.reference.runner->arena().bytes()))
      break;
    scratch = more;
    exact_scratch = exact_more;
    layouts.push_back(std::move(layout));
    exacts.push_back(std::move(exact));
  }
  std::vector<PreparedRound> prepared;
  std::vector<SetOrder> orders;  // of trials with the same shape
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const Trial& trial = trials[from + i];
    const std::uint64_t secret = derive_seed(e.seed, "check", from + i);
    orders.push_back(
        {{trial.family}, secret, {i == 0 ? 0 : exacts[i - 1].total, exacts.back().total}});
    if (i + 1 < layouts.size() && trials[from + i + 1].dims == trial.dims) continue;
    HONE_ASSIGN(std::vector<InputSet> sets,
                InputSet::make_all(e.task, trial.dims, std::exchange(orders, {}),
                                   *e.reference.runner, e.workbench, e.settings.defences));
    for (InputSet& set : sets) {
      const std::size_t n = prepared.size();
      prepared.push_back({trials[from + n], derive_seed(e.seed, "check", from + n),
                          std::move(layouts[n]), std::move(set), layouts.back().total});
    }
  }
  return prepared;
}

/// Whether outputs are as they were after their own round, or, before it, as they were poisoned. Rationale: shapes that are
/// checked together lie in memory together. A submission that does nothing for a shape could have its outputs written in the
/// round of another. The copy engine reads them, which changes no context.
Judgement Checker::expect_as_seen(const PreparedRound& prepared) {
  const auto now = input_.submission.sample_outputs(prepared.layout, prepared.secret);
  if (!now) return fault(now.error());
  if (*now == prepared.seen) return correct_so_far();
  Judgement judged = wrong("wrote outside of its tensors: the outputs of " +
                           shape_text(prepared.trial) + " changed in the round of another shape");
  judged.verdict.caught = caught::kWroteOutside;
  return judged;
}

Judgement Checker::check(std::vector<PreparedRound>& prepared) {
  Runner& submission = input_.submission;
  if (Status frozen = submission.freeze(); !frozen)
    return freeze_failure(frozen.error(), Culprit::kSubmission, place_of_check(prepared.front()));
  for (const PreparedRound& p : prepared) {
    if (Status loaded = p.set.load(submission, p.layout, p.secret); !loaded)
      return fault(loaded.error());
  }
  const bool together = prepared.size() > 1 && input_.holds(Defence::kOwnRound);
  const auto see = [&](PreparedRound& p) -> Status {
    if (!together) return {};
    HONE_ASSIGN(p.seen, submission.sample_outputs(p.layout, p.secret));
    return {};
  };
  for (PreparedRound& p : prepared) {
    if (Status seen = see(p); !seen) return fault(seen.error());
  }
  for (PreparedRound& p : prepared) {
    if (together) {
      if (Judgement untouched = expect_as_seen(p); !passed(untouched)) return untouched;
    }
    if (Judgement ran = run_check(p); !passed(ran)) return ran;
    if (Status seen = see(p); !seen) return fault(seen.error());
  }
  for (const PreparedRound& p : prepared) {
    if (!together) break;
    if (Judgement untouched = expect_as_seen(p); !passed(untouched)) return untouched;
  }
  return answers_.check(prepared, submission.arena());
}

Judgement Checker::run_check(const PreparedRound& p) {
  Runner& submission = input_.submission;
  submission.set_guards(p.layout.guards);
  if (Judgement ordered = order(p.set, submission, p.layout, p.secret, p.scratch_at,
                                Culprit::kSubmission, place_of_check(p));
      !passed(ordered))
    return ordered;
  const Round round = one_call(Order::kRun, p.trial.dims);
  return round.ending == Ending::kDone ? correct_so_far()
                                       : blame(round, Culprit::kSubmission, place_of_check(p));
}

}  // namespace hone
