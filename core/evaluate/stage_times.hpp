// StageTimes: when the stages of one evaluation began, for a verdict's stage_ms.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "judge_protocol/calls.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Seconds of monotonic_s(); 0: not reached.
struct StageTimes {
  double submitted_s = 0, building_s = 0, built_s = 0, taken_s = 0, second_look_s = 0;
  std::map<JudgeStage, double> begun_s;            ///< of the last attempt
  std::vector<std::pair<double, double>> waits_s;  ///< from when to when it waited for others

  /// A stage begins now; with kPrepare an attempt at a verdict does, which may not be the first.
  void begin(JudgeStage stage);

  /// Time to prepare the task, without waits for other lanes (s); 0: unknown.
  double prepare_s() const;
  /// Writes stage_ms, of an evaluation that has just ended.
  void fill(Verdict& verdict) const;

 private:
  /// 0: not reached.
  double begun(JudgeStage stage) const;
  /// Time spent waiting for other lanes in this period (ms).
  double waited_ms(double from_s, double to_s) const;
};

}  // namespace hone
