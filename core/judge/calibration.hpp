// Calibration of a task's own code when it is installed: the baseline's times, and the reference's error.
#pragma once

#include <cstdint>
#include <functional>

#include "judge/input_set.hpp"
#include "judge/installed.hpp"
#include "judge/workbench.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

/// Times the calls of one task's baseline, at its timed shape, on its first family of inputs. `task`, `reference` and `workbench` outlive it. One thread.
class BaselineTimes {
 public:
  static Result<BaselineTimes> make(const Task& task, std::uint64_t seed, DatasetRunner reference,
                                    Workbench& workbench);

  /// One untimed call. Rationale: the first call initialises libraries, for up to half a second. On a device others may use
  /// it meanwhile.
  Judgement call_once(DatasetRunner& baseline) const;
  /// Measures `floor` and `call_seconds`. Needs the device exclusively.
  Judgement time_calls(DatasetRunner& baseline) const;
  /// Measures `answer_seconds`, where there is a device. Needs it exclusively.
  Judgement time_answers(DatasetRunner& baseline) const;

 private:
  BaselineTimes(const Task& task, std::uint64_t seed, Workbench& workbench, InputSet set,
                Layout layout);
  Judgement load_into(DatasetRunner& baseline, std::uint64_t number) const;

  const Task* task_;
  std::uint64_t seed_;
  bool on_device_;
  InputSet set_;
  Layout layout_;
};

/// Times the calls, then the answers.
Judgement calibrate(const Task& task, std::uint64_t seed, DatasetRunner reference,
                    DatasetRunner& baseline, Workbench& workbench);

/// Has the reference compute its own error, over all families of inputs; nothing where the task has a tolerance of its own.
/// `between` is called before each family of inputs.
Judgement find_error(const Task& task, std::uint64_t seed, DatasetRunner& reference,
                     Workbench& workbench, const std::function<Status()>& between = nullptr);

}  // namespace hone
