// Where the private memory of a recorded plan lies.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/recorded_plan.hpp"

namespace hone_gpu {

/// The smallest multiple of `unit` that is at least `bytes`.
constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

struct Layout {
  std::vector<std::uint64_t>
      offsets;              ///< of each memory of the plan; 0 for memories that are not private
  std::uint64_t bytes = 0;  ///< of the whole layout
};

/// First fit, at multiples of 512 bytes. Memories with separate lifetimes may share bytes, unless
/// steps may run at the same time: with several streams or overlapping launches.
Layout lay_out(const hone::recorded::Plan& plan);

}  // namespace hone_gpu
