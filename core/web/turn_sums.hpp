// TurnSums: counts and sums from which shares and means of turns are computed.
#pragma once

#include <cstdint>

#include "journal/records.hpp"
#include "model/value.hpp"

namespace hone {

/// Unscored turns are in no count. The mean speedup is the geometric mean of correct, timed attempts.
struct TurnSums {
  std::int64_t attempts = 0;  ///< scored turns
  std::int64_t correct = 0, timed = 0, rewards = 0;
  double speedup_log_sum = 0, reward_sum = 0;

  void add(const TurnLine& turn);
  void operator+=(const TurnSums& other);
  /// Nil if no turn has one.
  Value success() const;
  Value speedup_mean() const;
  Value reward_mean() const;
};

/// `sum` / `count`; nil for a count of 0.
Value mean_value(double sum, std::int64_t count);

}  // namespace hone
