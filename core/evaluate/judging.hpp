// Judging: evaluates a built submission as often as the rules of reruns.hpp require.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/confirmation.hpp"
#include "evaluate/device.hpp"
#include "evaluate/job.hpp"
#include "evaluate/reruns.hpp"

namespace hone {

/// [any thread]
class Judging {
 public:
  Judging(const EvaluatorOptions& options, BuildPool& builds)
      : options_(options),
        builds_(builds),
        suspicions_(options.suspect_speedup, options.suspect_factor) {}

  /// An Error is a fault. nullopt: the plan could not be replayed, and the module is to be judged again in a process of its
  /// own; job.not_recorded says why.
  std::optional<Result<Verdict>> judge(Device& device, Job& job);

 private:
  /// A finished run: its last evaluation and the decision about it.
  struct Ended {
    Evaluation last;
    Result<Verdict> scored;
    Finding finding;
    Decision decision;
    History history;
    std::string doubt;  ///< see doubt()
  };
  Ended run(Device& device, DeviceJob job, History history) const;
  History begin_run(RunKind run, Mode mode) const;
  Result<Verdict> verdict_of_run(Device& device, const Job& job, Ended ended);
  Result<Verdict> scored(const DeviceJob& job, const Evaluation& evaluation) const;
  std::string doubt(Device& device, const Task& task, const Result<Verdict>& scored,
                    bool kept_process) const;
  DeviceJob job_of(Job& job, RunKind run) const;
  Status known_answer(Device& device, const Job& job, bool measure) const;

  const EvaluatorOptions& options_;
  BuildPool& builds_;
  Suspicions suspicions_;
};

}  // namespace hone
