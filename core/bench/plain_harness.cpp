// Runs plain_modules.py with two files.
#include "bench/plain_harness.hpp"

#include "base/files.hpp"
#include "bench/load.hpp"
#include "evaluate/sources.hpp"

namespace hone {

Status check_module(const Task& task, const EvaluatorOptions& options) {
  if (is_module(mode_of(task, options))) return {};
  return failed_precondition("task " + task.id +
                             " is not a module task; use for example --task kernelbench/level1/19");
}

Result<PlainHarness> PlainHarness::make(Launcher& launcher, const EvaluatorOptions& options) {
  HONE_ASSIGN(ScratchFolder folder, ScratchFolder::make());
  return PlainHarness(launcher, options, std::move(folder));
}

Result<ProcessExit> PlainHarness::run(const Task& task, const std::string& source, int number,
                                      double seconds) const {
  const std::string name = std::to_string(number) + ".py";
  const auto reference = folder_.path() / ("reference_" + name);
  const auto submission = folder_.path() / ("submission_" + name);
  HONE_TRY(write_file(reference, task.backends.at(options_->backend).baseline.text));
  HONE_TRY(write_file(submission, numbered(source, number)));
  SpawnRequest spawn;
  spawn.jail = Jail::kJudge;  // without a sandbox
  spawn.label = "plain harness";
  spawn.program = options_->toolchains.at("python").compiler;
  spawn.arguments = {"-I",
                     "-B",
                     (options_->libexec.parent_path() / "share/module/plain_modules.py").string(),
                     module_place_of(*options_),
                     reference.string(),
                     submission.string()};
  HONE_ASSIGN(const auto process, launcher_->spawn(spawn));
  return process->wait(seconds);
}

}  // namespace hone
