// Compares runs.
#pragma once

#include <cstdint>

#include "record/plan/recording.hpp"

namespace hone::record {

/// A number of the last run without its setup: equal for equal runs.
std::uint64_t digest_of_run(const Recording& recording);

}  // namespace hone::record
