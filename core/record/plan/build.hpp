// Makes the plan of a recording.
#pragma once

#include <optional>
#include <vector>

#include "hone/recorded_plan.hpp"
#include "record/plan/recording.hpp"

namespace hone::record {

/// The plan of the last run. Memory, kernels, images, streams and events are numbered in the order
/// of their first use, so that equal runs give equal plans. nullopt if the recording has a problem
/// (Recording::problem()); this function may find one.
std::optional<recorded::Plan> build_plan(Recording& recording);

/// A plan of these steps only, without setup and without checks.
recorded::Plan number_run(const Recording& recording, std::vector<recorded::Step> run);

}  // namespace hone::record
