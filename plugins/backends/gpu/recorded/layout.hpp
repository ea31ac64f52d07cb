// Where the private memory of a recorded plan lies.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/recorded_plan.hpp"

namespace hone_gpu {

struct Layout {
  std::vector<std::uint64_t> offsets;  ///< of each of the plan's memories; 0 for those not private
  std::uint64_t bytes = 0;             ///< of all
};

/// First fit: memory whose steps are over may be used again, at multiples of 512 bytes. Nothing is
/// shared where steps may run at the same time: with several streams or overlapping launches.
Layout lay_out(const hone::recorded::Plan& plan);

}  // namespace hone_gpu
