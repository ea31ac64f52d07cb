// Waits for a single operation: the admission of a task, or one submission.
#include <future>

#include "evaluate/build_pool.hpp"
#include "evaluate/device.hpp"
#include "evaluate/evaluator.hpp"
#include "evaluate/make_evaluator.hpp"

namespace hone {

struct TaskAdmission::Parts {
  Parts(Launcher& launcher, const EvaluatorOptions& options)
      : builds(launcher, options, nullptr),
        zygotes(launcher, options),
        shared(options, 1),
        device(launcher, zygotes, builds, options, options.devices.front(), shared) {}

  BuildPool builds;
  Zygotes zygotes;
  SharedByLanes shared;
  Device device;
};

TaskAdmission::TaskAdmission(Launcher& launcher, const EvaluatorOptions& options)
    : parts_(std::make_unique<Parts>(launcher, options)) {}

TaskAdmission::~TaskAdmission() = default;

Result<Value> TaskAdmission::admit(const std::shared_ptr<const Task>& task, std::uint64_t seed) {
  return parts_->device.admit(task, seed);
}

Result<std::uint64_t> Evaluator::examine(Submission, Tool tool, Progress, Examined) {
  return failed_precondition("this evaluator does not have the tool " +
                             std::string(enum_name(tool)));
}

Result<Examination> examine_and_wait(Evaluator& evaluator, Submission submission, Tool tool) {
  std::promise<Result<Examination>> promise;
  auto future = promise.get_future();
  auto id = evaluator.examine(
      std::move(submission), tool, [](Stage) {},
      [&promise](Result<Examination> found) { promise.set_value(std::move(found)); });
  if (!id) return id.error();
  return future.get();
}

Result<Verdict> judge_and_wait(Evaluator& evaluator, Submission submission) {
  std::promise<Result<Verdict>> promise;
  auto future = promise.get_future();
  auto id = evaluator.submit(
      std::move(submission), [](Stage) {},
      [&promise](Result<Verdict> verdict) { promise.set_value(std::move(verdict)); });
  if (!id) return id.error();
  return future.get();
}

}  // namespace hone
