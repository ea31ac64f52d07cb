// DeviceJob: one submission that has been built, and how it is to be evaluated.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "evaluate/build_pool.hpp"
#include "evaluate/evaluation.hpp"
#include "evaluate/mode.hpp"
#include "judge_protocol/calls.hpp"
#include "model/plan.hpp"
#include "model/task.hpp"

namespace hone {

struct DeviceJob {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Built> built;
  Mode mode = Mode::kNativeOnCpu;
  Plan plan;
  std::string client, episode;  ///< of the submission
  std::uint64_t seed = 0;
  double limit_s = 1e9;  ///< time limit of the step (s)
  bool measure = true;
  bool swapped = false;  ///< the measurement in the other order
  Isolation isolation = {};
  bool keeps_lock = false;  ///< goes on with the lock and the memory of the job's last evaluation
  const std::atomic<bool>* over = nullptr;  ///< set once the step has its answer; may be NULL
  /// Hears each stage that begins; kPrepare again if all of it is done again.
  std::function<void(JudgeStage stage)> progress;
  std::function<void(double from_s, double to_s)> waited;  ///< hears of waits for other lanes
};

}  // namespace hone
