// How the addresses of a kernel's memory accesses differ between neighbouring threads, from PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/value.hpp"

namespace hone {

/// A load or store whose address changes from thread to thread in a known way.
struct LaneAccess {
  std::string kernel = {};  ///< as in PTX, perhaps a mangled name
  bool is_shared = false, is_store = false;
  std::int64_t line = 0;   ///< of the source; 0: unknown
  std::int64_t depth = 0;  ///< number of loops around it
  std::int64_t width = 0;  ///< bytes of one thread
  std::int64_t count = 1;  ///< instructions that differ only in their address
  /// Distance between the addresses of neighbouring threads of a warp (bytes); nullopt: a thread's index times a number
  /// that is known only at run time.
  std::optional<std::int64_t> stride = {};
  /// Bytes between a thread's address and its neighbour's that instructions with the same base address use: 12 for the three
  /// members of a structure of floats. At least `width`.
  std::int64_t covered = 0;
};

/// An instruction of PTX.
struct DeviceInstruction {
  std::string_view text;
  std::int64_t line = 0, depth = 0;
};

/// Instructions of a kernel that are analysed at most, and steps that this takes for each of them.
inline constexpr std::size_t kLaneInstructionsMax = 20'000, kLanePassesMax = 8;

/// The accesses of a kernel, without those whose addresses are unknown.
/// The text is untrusted. Time: O(n log n) for each of kLanePassesMax passes. Empty if there are more than kLaneInstructionsMax instructions.
std::vector<LaneAccess> lane_accesses(std::string_view kernel,
                                      const std::vector<DeviceInstruction>& code);

/// Share of the bytes that a warp uses of the 32-byte sectors of global memory that it touches.
double sector_use(const LaneAccess& access);

/// Number of cycles in which a warp's access to shared memory uses the same bank, over the least possible; 1: no conflict.
/// 1 for an unknown stride.
std::int64_t bank_conflicts(const LaneAccess& access);

/// {"kernel", "line", "space": "global"|"shared", "store", "bytes", "instructions", "stride": bytes|nil, "sector_use" or "bank_conflicts"}.
Value lane_access_to_value(const LaneAccess& access);

}  // namespace hone
