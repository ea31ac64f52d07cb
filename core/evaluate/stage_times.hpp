// StageTimes: when the stages of one evaluation began, for a verdict's stage_ms.
#pragma once

#include <map>
#include <string>

#include "model/verdict.hpp"

namespace hone {

/// Seconds of monotonic_s(); 0: not reached.
struct StageTimes {
  double submitted_s = 0, building_s = 0, built_s = 0, second_look_s = 0;
  std::map<std::string, double> begun_s;  ///< "prepare", "load", "check", "measure"

  /// Writes stage_ms, of an evaluation that has just ended.
  void fill(Verdict& verdict) const;
};

}  // namespace hone
