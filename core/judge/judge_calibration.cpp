// Measurements of a task's own code when it is installed: the reference's error and the baseline's times.
#include "judge/blame.hpp"
#include "judge/calibration.hpp"
#include "judge/judge.hpp"

namespace hone {

/// The reference's error, from which the tolerance follows. Not computed again if an earlier judge has found
/// it.
Judgement Judge::find_error(const InstallRequest& request, const Task& task,
                            DatasetRunner& reference) {
  if (request.known_error) {
    reference.error = request.known_error;
    return correct_so_far();
  }
  const auto between = [this] { return give_way(); };
  return hone::find_error(task, static_cast<std::uint64_t>(request.seed), reference, *workbench_,
                          between);
}

/// Rationale: on a device these times only choose the number of calls in a round, and measuring them takes
/// half as long as the rest of an installation.
Judgement Judge::find_times(const InstallRequest& request, const Task& task,
                            DatasetRunner& baseline) {
  if (request.known_times) {
    static_cast<Calibration&>(baseline) = *request.known_times;
    return correct_so_far();
  }
  const auto reference = installed(TrustedRole::kReference, request.reference);
  if (!reference) return fault(reference.error());
  if (!device_code_)
    return calibrate(task, static_cast<std::uint64_t>(request.seed), *reference, baseline,
                     *workbench_);
  if (Status gave = give_way(); !gave) return fault(gave.error());
  const auto times =
      BaselineTimes::make(task, static_cast<std::uint64_t>(request.seed), *reference, *workbench_);
  if (!times) return fault(times.error());
  if (Judgement called = times->call_once(baseline); !passed(called)) return called;
  if (Status quiet = await_quiet(); !quiet) return fault(quiet.error());
  Judgement done = expect_still();
  if (passed(done)) done = times->time_calls(baseline);
  if (passed(done)) done = times->time_answers(baseline);
  if (passed(done)) done = expect_still();
  const Status shares = host_.share();
  return shares ? done : fault(shares.error());
}

}  // namespace hone
