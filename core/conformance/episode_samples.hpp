// Sample episodes for conformance checks of rewards.
#pragma once

#include <vector>

#include "model/value.hpp"

namespace hone {

/// One episode for every outcome, one with all of them, unscored turns at each end and alone, and a long
/// episode. Each is the map that score() gets.
std::vector<Value> episode_samples();

/// A correct turn, then one with an outcome that no version of hone defines.
Value later_outcome_sample();

}  // namespace hone
