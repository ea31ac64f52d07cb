// What a judge finds out about a task's own code when it is installed: the reference's error, and the baseline's times.
#include "judge/blame.hpp"
#include "judge/calibration.hpp"
#include "judge/judge.hpp"
#include "judge/messages.hpp"
#include "judge/request_fields.hpp"

namespace hone {

/// What a reference's answers are held against; known where it was found before.
Judgement Judge::find_error(const Value& request, const Task& task, Trusted& reference) {
  if (const Value* known = request.find("calibration"); known != nullptr) {
    auto found = reference_error_from_value(*known);
    if (!found) return fault(found.error());
    reference.error = std::move(*found);
    return correct_so_far();
  }
  const auto between = [this] { return device_code_ ? give_way(nullptr) : Status(); };
  return hone::find_error(task, seed_of(request), reference, *workbench_, between);
}

/// Rationale: they choose how many calls a round has, and of a device no more than that. To measure them takes half as
/// long as all else that makes a task ready.
Judgement Judge::find_times(const Value& request, const Task& task, Trusted& baseline) {
  if (const Value* known = request.find("calibration"); known != nullptr) {
    auto found = calibration_from_value(*known);
    if (!found) return fault(found.error());
    static_cast<Calibration&>(baseline) = *found;
    return correct_so_far();
  }
  const auto reference = installed(request, "reference");
  if (!reference) return fault(reference.error());
  if (!device_code_) return calibrate(task, seed_of(request), *reference, baseline, *workbench_);
  if (Status gave = give_way(nullptr); !gave) return fault(gave.error());
  const auto times = BaselineTimes::make(task, seed_of(request), *reference, *workbench_);
  if (!times) return fault(times.error());
  if (Judgement called = times->call_once(baseline); !passed(called)) return called;
  if (Status quiet = await_quiet(); !quiet) return fault(quiet.error());
  Judgement done = expect_still();
  if (passed(done)) done = times->time_calls(baseline);
  if (passed(done)) done = times->time_answers(baseline);
  if (passed(done)) done = expect_still();
  const Status shares = share();
  return shares ? done : fault(shares.error());
}

}  // namespace hone
