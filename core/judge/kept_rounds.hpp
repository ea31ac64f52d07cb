// How much memory a reference's arena has for the inputs of several rounds of a module.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hone {

inline constexpr std::uint64_t kRoundsKept = 13, kRoundsKeptBytesMax = 1u << 30,
                               kRoundsKeptShare = 64;

/// Bytes of a module's reference arena: `bytes` for one round, and more where the device has memory for that.
inline std::uint64_t with_kept_rounds(std::uint64_t bytes, std::uint64_t device_bytes) {
  const std::uint64_t most = std::min(kRoundsKeptBytesMax, device_bytes / kRoundsKeptShare);
  return std::max(bytes, std::min(kRoundsKept * bytes, most));
}

}  // namespace hone
