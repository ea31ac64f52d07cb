// TimeCourse: means of turns over intervals of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "journal/records.hpp"
#include "model/value.hpp"
#include "web/turn_sums.hpp"

namespace hone {

/// Means over intervals of time of equal length. The length doubles as needed to keep at most kIntervalsMax intervals. Turns
/// may come in any order. One thread.
class TimeCourse {
 public:
  static constexpr std::size_t kIntervalsMax = 96;

  /// `at`: seconds since 1970. Turns before 1970 or after the year 9999 are ignored.
  void add(double at, const TurnLine& turn);
  /// [{"from", "to", "attempts", "success", "reward_mean", "speedup_mean"}], in order, without empty intervals.
  Value value() const;

 private:
  void widen();
  std::int64_t width_s_ = 1;
  std::map<std::int64_t, TurnSums> intervals_;  // by start / width_s_
};

}  // namespace hone
