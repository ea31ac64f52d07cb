// What is done once, and waited for: a task's admission, one submission.
#include <future>

#include "evaluate/build_pool.hpp"
#include "evaluate/device.hpp"
#include "evaluate/evaluator.hpp"
#include "evaluate/make_evaluator.hpp"

namespace hone {

Result<Value> admit(Launcher& launcher, const EvaluatorOptions& options,
                    const std::shared_ptr<const Task>& task, std::uint64_t seed) {
  BuildPool builds(launcher, options, nullptr);
  WarmInterpreters interpreters(launcher, options);
  Shared shared(hold_seconds(options), 1);
  Device device(launcher, interpreters, builds, options, options.devices.front(), shared);
  return device.admit(task, seed);
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
