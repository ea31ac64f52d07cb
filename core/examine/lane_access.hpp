// Distances between the addresses that neighbouring threads access, from a kernel's PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/value.hpp"

namespace hone {

/// A load or store whose address grows by the same distance from each thread to the next.
struct LaneAccess {
  std::string kernel = {};  ///< as in PTX, perhaps a mangled name
  bool is_shared = false, is_store = false;
  std::int64_t line = 0;   ///< of the source; 0: unknown
  std::int64_t depth = 0;  ///< number of loops around it
  std::int64_t width = 0;  ///< bytes for each thread
  std::int64_t count = 1;  ///< instructions that differ only in their address
  /// Distance between the addresses of neighbouring threads of a warp (bytes); nullopt: the same distance for all
  /// threads, but known only at run time.
  std::optional<std::int64_t> stride = {};
  /// Bytes of each stride that all instructions with the same base address use together: 12 for the three members of a
  /// structure of floats. At least `width`.
  std::int64_t covered = 0;
};

/// An instruction of PTX.
struct DeviceInstruction {
  std::string_view text;
  std::int64_t line = 0, depth = 0;
};

/// Most instructions of an analysed kernel, and most passes over them.
inline constexpr std::size_t kLaneInstructionsMax = 20'000, kLanePassesMax = 8;

/// The accesses of a kernel, without those whose addresses are unknown. The text is untrusted.
/// Empty above kLaneInstructionsMax instructions, or if kLanePassesMax passes are too few. Time: O(n) a pass, then O(n log n).
std::vector<LaneAccess> lane_accesses(std::string_view kernel,
                                      const std::vector<DeviceInstruction>& code);

/// Share of each accessed 32-byte sector of global memory that a warp uses. An unknown stride counts as 32 bytes or more.
double sector_use(const LaneAccess& access);

/// Cycles of a warp's access to shared memory, as a multiple of the cycles without bank conflicts. 1: no conflict, or an
/// unknown stride.
std::int64_t bank_conflicts(const LaneAccess& access);

/// {"kernel", "line", "space": "global"|"shared", "store", "bytes", "instructions", "stride": bytes|nil, "sector_use" or "bank_conflicts"}.
Value lane_access_to_value(const LaneAccess& access);

}  // namespace hone
