// Memory for more than one round of a module: inputs that were prepared ahead, and copies of outputs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hone {

// Most rounds that are prepared ahead: more than the 10 of the default settings, which are a warm-up round, 6 rounds and 3
// single-call rounds. The limits of their bytes, absolute and as a divisor of the device's memory, are chosen
// so that tasks keep nearly all of it.
inline constexpr std::uint64_t kRoundsKept = 13, kRoundsKeptBytesMax = 1u << 30,
                               kRoundsKeptShare = 64;

// Bytes of inputs and outputs, and divisor of the device's memory, from which there is one copy of outputs. Chosen: up to
// there a second copy is smaller than the context of a process (512 MiB).
inline constexpr std::uint64_t kOneCopyBytes = std::uint64_t{256} << 20, kOneCopyShare = 8;

/// Whether a round's inputs and outputs are large, so that one copy of outputs serves submission and baseline in turn: over
/// 256 MiB, or over an eighth of the device's memory. `bytes`: of inputs and outputs. `device_bytes`: the device's memory; 0
/// if it has none of its own.
inline bool has_one_copy(std::uint64_t bytes, std::uint64_t device_bytes) {
  return bytes > kOneCopyBytes || (device_bytes > 0 && bytes > device_bytes / kOneCopyShare);
}

/// Bytes of a module's reference arena: `bytes` for one round, and more where the device has memory for that.
inline std::uint64_t with_kept_rounds(std::uint64_t bytes, std::uint64_t device_bytes) {
  const std::uint64_t most = std::min(kRoundsKeptBytesMax, device_bytes / kRoundsKeptShare);
  return std::max(bytes, std::min(kRoundsKept * bytes, most));
}

}  // namespace hone
