#include "judge/session.hpp"

#include <utility>

#include "judge/blame.hpp"
#include "judge/timing/round_size.hpp"

namespace hone {
namespace {

Timings timings_for(const SessionInput& evaluation) {
  Timings timings;
  timings.calls = round_calls(evaluation.task, evaluation.settings, evaluation.baseline);
  timings.installed_floor = evaluation.baseline.floor;
  timings.on_device = evaluation.workbench.placement() == Placement::kDevice;
  timings.excuses_submission = excuses_submission(evaluation.task);
  return timings;
}

}  // namespace

Session::Session(SessionInput evaluation)
    : evaluation_(std::move(evaluation)),
      rules_(evaluation_.task, evaluation_.settings,
             evaluation_.workbench.bytes_per_second_max(evaluation_.task), evaluation_.seed),
      answers_(evaluation_),
      checker_(evaluation_, answers_),
      timings_(timings_for(evaluation_)),
      contention_(evaluation_),
      clock_(evaluation_, contention_, timings_),
      protocol_(make_protocol({evaluation_, answers_, contention_, clock_, rules_, timings_})) {}

Judgement Session::begin() {
  return evaluation_.settings.measure ? protocol_->before_loading() : correct_so_far();
}

Judgement Session::judge() {
  evaluation_.host.progress(JudgeStage::kCheck);
  Judgement result = checker_.check_all([this] { return protocol_->give_way(); });
  if (!passed(result)) return result;
  if (evaluation_.settings.measure) {
    evaluation_.host.progress(JudgeStage::kMeasure);
    result = measure();
  }
  if (passed(result)) result.verdict.work = checker_.work();
  return result;
}

Judgement Session::measure() {
  if (Status frozen = evaluation_.submission.freeze(); !frozen)
    return frozen_badly(frozen.error(), Culprit::kSubmission, {Place::kMeasurement});
  if (Status frozen = evaluation_.baseline.runner->freeze(); !frozen)
    return frozen_badly(frozen.error(), Culprit::kBaseline, {Place::kMeasurement});
  evaluation_.submission.set_urgent(true);
  if (Judgement judged = protocol_->measure(); !passed(judged)) return judged;
  return rules_.judge(timings_);
}

}  // namespace hone
