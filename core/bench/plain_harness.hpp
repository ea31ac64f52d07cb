// PlainHarness: the baseline of `hone bench modules`. It starts an interpreter for each submission, without a
// sandbox or secrets (plain_modules.py).
#pragma once

#include <string>

#include "base/scratch_folder.hpp"
#include "evaluate/options.hpp"
#include "model/task.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// failed_precondition: the task has no modules.
Status check_module(const Task& task, const EvaluatorOptions& options);

/// [any thread] run(). Launcher and options outlive it.
///
///   HONE_ASSIGN(const auto plain, PlainHarness::make(launcher, options));
///   HONE_ASSIGN(const ProcessExit exit, plain.run(task, source, 0, 600));   // 0: it found it correct
class PlainHarness {
 public:
  static Result<PlainHarness> make(Launcher& launcher, const EvaluatorOptions& options);

  /// Judges one submission, and times it if there is a device. deadline_exceeded after `seconds`; the process is then killed.
  Result<ProcessExit> run(const Task& task, const std::string& source, int number,
                          double seconds) const;

 private:
  PlainHarness(Launcher& launcher, const EvaluatorOptions& options, ScratchFolder folder)
      : launcher_(&launcher), options_(&options), folder_(std::move(folder)) {}

  Launcher* launcher_;
  const EvaluatorOptions* options_;
  ScratchFolder folder_;
};

}  // namespace hone
