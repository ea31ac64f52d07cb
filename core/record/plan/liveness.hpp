// Finds the steps of setup that a run depends on.
#pragma once

#include <vector>

#include "record/plan/recording.hpp"

namespace hone::record {

/// The memory of a step.
struct Touched {
  std::vector<MemoryId> reads, writes;  ///< memory that the step may read or write
  std::vector<MemoryId>
      replaces;  ///< the part of `writes` that it overwrites completely and does not read
};
Touched touched_by(const recorded::Step& step, const Recording& recording);

/// The steps that may have written the contents of the memories in `wanted`, or contents that such a
/// step reads, in their order. Adds the memories of these steps to `wanted`, which is indexed by
/// MemoryId.
std::vector<recorded::Step> steps_that_make(std::vector<recorded::Step> steps,
                                            std::vector<bool>& wanted, const Recording& recording);

/// The memories whose contents before the run may affect the run, indexed by MemoryId.
std::vector<bool> memory_from_before(const std::vector<recorded::Step>& run,
                                     const Recording& recording);

}  // namespace hone::record
