#include "judge/calibration.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/timing/round_times.hpp"
#include "judge/timing/statistics.hpp"

namespace hone {
namespace {

// Empty rounds that the floor is measured with. Fewer on a device: each measurement finds its floor again.
constexpr int kFloorRounds = 21, kFloorRoundsOfDevice = 7;
// Rounds of one call that the call's time is measured with.
constexpr int kTimedCalls = 5;
// Answers of the reference that are timed; the first one may initialise libraries.
constexpr int kAnswers = 2;
// Limit of a reference that computes its own error: it computes each answer three times.
constexpr double kErrorSeconds = 300;
const Where kWhere{Place::kCalibration};

}  // namespace

BaselineTimes::BaselineTimes(const Task& task, std::uint64_t seed, Workbench& workbench,
                             InputSet set, Layout layout)
    : task_(&task),
      seed_(seed),
      on_device_(workbench.placement() == Placement::kDevice),
      set_(std::move(set)),
      layout_(std::move(layout)) {}

Result<BaselineTimes> BaselineTimes::make(const Task& task, std::uint64_t seed,
                                          DatasetRunner reference, Workbench& workbench) {
  HONE_ASSIGN(InputSet set,
              InputSet::make(task, task.timed, {{0}, seed}, *reference.runner, workbench));
  HONE_ASSIGN(Layout layout, lay_out(task, task.timed, 1, workbench.placement(), false));
  return BaselineTimes(task, seed, workbench, std::move(set), std::move(layout));
}

Judgement BaselineTimes::load_into(DatasetRunner& baseline, std::uint64_t number) const {
  return load(set_, *baseline.runner, layout_, derive_seed(seed_, "calibrate", number),
              Culprit::kBaseline, kWhere);
}

Judgement BaselineTimes::call_once(DatasetRunner& baseline) const {
  if (Status frozen = baseline.runner->freeze(); !frozen)
    return freeze_failure(frozen.error(), Culprit::kBaseline, kWhere);
  if (Judgement loaded = load_into(baseline, kFloorRounds); !passed(loaded)) return loaded;
  const Round round = baseline.runner->timed_round(Order::kRun, 1, kReferenceSeconds);
  return round.ending == Ending::kDone ? correct_so_far()
                                       : blame(round, Culprit::kBaseline, kWhere);
}

Judgement BaselineTimes::time_calls(DatasetRunner& baseline) const {
  if (Status frozen = baseline.runner->freeze(); !frozen)
    return freeze_failure(frozen.error(), Culprit::kBaseline, kWhere);
  std::vector<double> floors, calls;
  const int floor_rounds = on_device_ ? kFloorRoundsOfDevice : kFloorRounds;
  for (int i = 0; i < floor_rounds; ++i) {
    const bool also_called = i < kTimedCalls;
    if (i <= kTimedCalls) {
      if (Judgement loaded = load_into(baseline, static_cast<std::uint64_t>(i)); !passed(loaded))
        return loaded;
    }
    // An empty round ends when the same outputs have been read as at the end of any other.
    const Round nothing = baseline.runner->timed_round(Order::kNothing, 0, task_->run_seconds);
    if (nothing.ending != Ending::kDone) return blame(nothing, Culprit::kBaseline, kWhere);
    floors.push_back(nothing.seconds - nothing.delayed_seconds);
    if (!also_called) continue;
    const Round round = baseline.runner->timed_round(Order::kRun, 1, kReferenceSeconds);
    if (round.ending != Ending::kDone) return blame(round, Culprit::kBaseline, kWhere);
    calls.push_back(round.seconds - round.delayed_seconds);
  }
  baseline.floor = floor_of(floors);
  // The call time sets the calls of a round for as long as the baseline is installed. On a processor the least of the calls
  // counts, because a busy machine delays most of them.
  const std::vector<double> each = per_call(calls, baseline.floor, 1);
  baseline.call_seconds = on_device_ ? median(each) : *std::min_element(each.begin(), each.end());
  return correct_so_far();
}

Judgement BaselineTimes::time_answers(DatasetRunner& baseline) const {
  if (!on_device_) return correct_so_far();
  for (int i = 0; i < kAnswers; ++i) {
    const Round answers = set_.run_answers(kReferenceSeconds);
    if (answers.ending != Ending::kDone) return blame(answers, Culprit::kReference, kWhere);
    baseline.answer_seconds =
        i == 0 ? answers.seconds : std::min(baseline.answer_seconds, answers.seconds);
  }
  return correct_so_far();
}

Judgement calibrate(const Task& task, std::uint64_t seed, DatasetRunner reference,
                    DatasetRunner& baseline, Workbench& workbench) {
  const auto times = BaselineTimes::make(task, seed, reference, workbench);
  if (!times) return fault(times.error());
  if (Judgement timed = times->time_calls(baseline); !passed(timed)) return timed;
  return times->time_answers(baseline);
}

Judgement find_error(const Task& task, std::uint64_t seed, DatasetRunner& reference,
                     Workbench& workbench, const std::function<Status()>& between) {
  if (!task.tolerance.from_reference) return correct_so_far();
  for (std::size_t family = 0; family < task.families.size(); ++family) {
    if (Status status = between == nullptr ? Status() : between(); !status)
      return fault(status.error());
    auto set = InputSet::make(task, task.timed, {{family}, derive_seed(seed, "error", family)},
                              *reference.runner, workbench);
    if (!set) return fault(set.error());
    std::string report;
    const Round round = set->run_report(Form::kError, kErrorSeconds, &report);
    if (round.ending != Ending::kDone)
      return blame(round, Culprit::kReference, {Place::kReferenceError});
    auto found = reference_error_from_json(report);
    if (!found) return fault(found.error());
    reference.error = reference.error ? larger(*reference.error, *found) : std::move(*found);
  }
  return correct_so_far();
}

}  // namespace hone
