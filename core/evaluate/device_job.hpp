// DeviceJob: a built submission, and how to evaluate it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "evaluate/built.hpp"
#include "evaluate/evaluation.hpp"
#include "evaluate/mode.hpp"
#include "evaluate/sources.hpp"
#include "judge_protocol/calls.hpp"
#include "model/plan.hpp"
#include "model/task.hpp"

namespace hone {

struct DeviceJob {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Built> built;
  TrustedCodes trusted;  ///< the lane builds those that are missing
  Mode mode = Mode::kNativeOnCpu;
  Plan plan;
  std::string client;  ///< of the submission
  std::uint64_t seed = 0;
  double limit_s = 1e9;  ///< time limit of the step (s)
  bool measure = true;
  bool counts = false;      ///< hardware counters may be read afterwards
  bool shown_only = false;  ///< checks the shown shapes alone
  bool swapped = false;     ///< the sides of the measurement change places
  Isolation isolation = {};
  bool keeps_lock = false;  ///< continues with the lock and the memory of the job's last evaluation
  const std::atomic<bool>* over = nullptr;  ///< set once the step has been answered; may be null
  /// Called for each stage that begins. kPrepare again means that the evaluation is repeated.
  std::function<void(JudgeStage stage)> progress;
  std::function<void(double from_s, double to_s)>
      waited;  ///< called after each wait for other lanes
};

}  // namespace hone
