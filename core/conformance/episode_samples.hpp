// Episodes that conformance checks ask rewards about.
#pragma once

#include <vector>

#include "model/value.hpp"

namespace hone {

/// Every outcome alone, all of them in one episode, unscored turns at each end and alone, and a
/// long episode: maps as score() gets them.
std::vector<Value> episode_samples();

}  // namespace hone
