#include "judge/session.hpp"

#include <utility>

#include "judge/blame.hpp"
#include "judge/timing/round_size.hpp"

namespace hone {
namespace {

Timings timings_for(const SessionInput& input) {
  Timings timings;
  timings.calls = round_calls(input.task, input.settings, input.baseline);
  timings.installed_floor = input.baseline.floor;
  timings.on_device = input.workbench.placement() == Placement::kDevice;
  timings.excuses_submission = excuses_submission(input.task);
  return timings;
}

}  // namespace

Session::Session(SessionInput input)
    : input_(std::move(input)),
      rules_(input_.task, input_.settings, input_.workbench.bytes_per_second_max(input_.task),
             input_.seed),
      answers_(input_),
      checker_(input_, answers_),
      timings_(timings_for(input_)),
      contention_(input_),
      clock_(input_, contention_, timings_),
      protocol_(make_protocol({input_, answers_, contention_, clock_, rules_, timings_})) {}

Judgement Session::judge() {
  input_.host.progress(JudgeStage::kCheck);
  Judgement result = checker_.check_all();
  if (!passed(result)) return result;
  if (input_.settings.measure) {
    input_.host.progress(JudgeStage::kMeasure);
    result = measure();
  }
  if (!passed(result)) return result;
  result.verdict.work = checker_.work();
  for (const std::uint32_t chosen : input_.submission.chosen_configurations())
    result.verdict.configurations.push_back({"", "", "", std::int64_t{chosen} + 1, 0});
  return result;
}

Judgement Session::measure() {
  if (Status frozen = input_.submission.freeze(); !frozen)
    return freeze_failure(frozen.error(), Culprit::kSubmission, {Place::kMeasurement});
  if (Status frozen = input_.baseline.runner->freeze(); !frozen)
    return freeze_failure(frozen.error(), Culprit::kBaseline, {Place::kMeasurement});
  input_.submission.set_urgent(true);
  if (Judgement judged = protocol_->measure(); !passed(judged)) return judged;
  return rules_.judge(timings_);
}

}  // namespace hone
