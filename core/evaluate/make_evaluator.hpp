// Makes the evaluator of this machine, and admits tasks.
#pragma once

#include <memory>
#include <string>

#include "evaluate/evaluator.hpp"
#include "evaluate/options.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Starts judges and builders; tests each compiler in its jail, so that a missing one is found now.
/// `hardware` begins the fingerprint (the backend's own words). The launcher outlives the
/// evaluator.
Result<std::unique_ptr<Evaluator>> make_evaluator(Launcher& launcher, EvaluatorOptions options,
                                                  std::string hardware);

/// What `hone tasks --admit` asks of task after task. `launcher` and `options` outlive it. One thread.
class Admission {
 public:
  Admission(Launcher& launcher, const EvaluatorOptions& options);
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// The map of judge/admit.hpp. Nothing of the task is kept.
  Result<Value> admit(const std::shared_ptr<const Task>& task, std::uint64_t seed);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace hone
