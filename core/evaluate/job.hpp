// Job: a submission from the queue to its verdict.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "evaluate/build_pool.hpp"
#include "evaluate/evaluator.hpp"
#include "evaluate/sources.hpp"
#include "evaluate/stage_times.hpp"

namespace hone {

struct Job {
  std::uint64_t id = 0;
  Submission submission;
  Evaluator::Progress progress;
  std::optional<Tool> tool;  ///< none: a step
  Evaluator::Examined done;
  double deadline_s = 0,
         limit_s = 0;  ///< monotonic time of its deadline; time limit of the step (s)
  StageTimes times;
  std::shared_ptr<const Built> built;
  TrustedCodes trusted;  ///< set once it is built
  Mode mode = Mode::kNativeOnCpu;
  std::string not_recorded;  ///< why a module runs in a process of its own; empty if it does not
  std::string task_key;      ///< set once it is built
  std::uint64_t memory_bytes = 0;  ///< device memory that its task needs; set once it is built
  Plan plan;
  bool has_begun = false;  ///< something of it was loaded
  /// The device from which the job has moved, because that device's judge does not start; an index of EvaluatorOptions::devices.
  std::optional<std::size_t> moved_from;
  std::atomic<bool> over{false};
};
using JobPtr = std::shared_ptr<Job>;

}  // namespace hone
