// What rounds of one side and pairs of rounds have in common, where a module is measured on a device.
#pragma once

#include <vector>

#include "judge/session.hpp"

namespace hone {

inline constexpr int kRoundsLeast = 3;
inline constexpr int kWarmRounds = 1;    // not counted: what runs first sets things up
inline constexpr int kSingles = 3;       // rounds of one call
inline constexpr double kSteady = 0.02;  // a spread of rounds that more of them would not make less

/// By quartiles, over their median.
inline bool steady(const std::vector<double>& rounds) {
  const Floor all = floor_of(rounds);
  return all.spread <= kSteady * all.seconds;
}

}  // namespace hone
