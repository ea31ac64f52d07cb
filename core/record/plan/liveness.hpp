// Which steps of setup a run depends on.
#pragma once

#include <vector>

#include "record/plan/recording.hpp"

namespace hone::record {

/// The memory of a step.
struct Touched {
  std::vector<MemoryId> reads, writes;  ///< what it may read and may write
  std::vector<MemoryId> replaces;  ///< of `writes`, what it writes wholly, with nothing read of it
};
Touched touched_by(const recorded::Step& step, const Recording& recording);

/// The steps that may have made the contents of `wanted` (by memory), in their order, and those
/// that may have made what these steps read. Adds all memory of the steps that are kept to
/// `wanted`.
std::vector<recorded::Step> steps_that_make(std::vector<recorded::Step> steps,
                                            std::vector<bool>& wanted, const Recording& recording);

/// The memory whose contents a run gets from before it.
std::vector<bool> memory_from_before(const std::vector<recorded::Step>& run,
                                     const Recording& recording);

}  // namespace hone::record
