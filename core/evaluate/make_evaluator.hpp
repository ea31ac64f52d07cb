// Makes the evaluator of this machine, and admits tasks.
#pragma once

#include <memory>
#include <string>

#include "evaluate/evaluator.hpp"
#include "evaluate/options.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

class Zygotes;

/// Starts judges and builders, and tests each compiler in its jail, so that a missing one is found now.
/// `hardware`: the backend's description, which begins the fingerprint. `zygotes`: shared by several
/// evaluators with the same interpreter; null: the evaluator starts its own. Launcher and zygotes must outlive the evaluator.
Result<std::unique_ptr<Evaluator>> make_evaluator(Launcher& launcher, EvaluatorOptions options,
                                                  std::string hardware, Zygotes* zygotes = nullptr);

/// Admits tasks one after the other, for `hone tasks --admit`. `launcher` and `options` must outlive it. One
/// thread.
class TaskAdmission {
 public:
  TaskAdmission(Launcher& launcher, const EvaluatorOptions& options);
  ~TaskAdmission();
  TaskAdmission(const TaskAdmission&) = delete;
  TaskAdmission& operator=(const TaskAdmission&) = delete;

  /// Returns the report of judge/admit.hpp. The task is dropped afterwards.
  Result<Value> admit(const std::shared_ptr<const Task>& task, std::uint64_t seed);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace hone
