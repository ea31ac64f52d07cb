// Turns calls of the driver into steps of a recording.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "hone/plugin/value.hpp"
#include "record/driver/types.hpp"
#include "record/plan/recording.hpp"

namespace hone::record {

/// The size of an address. Addresses are at multiples of it.
inline constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Problems that more than one file reports.
inline constexpr std::string_view kReadBack = "a value was read back";
inline constexpr std::string_view kFreedMemory = "a kernel gets an address of freed memory";
inline constexpr std::string_view kNoMemory = "a kernel gets an address outside of any memory";
inline constexpr std::string_view kHostMemory = "a kernel gets an address of host memory";

/// Clears 64 KiB of unused stack of the thread. Rationale: launch parameters contain struct members
/// that were never set and have the stack's old bytes. Equal calls shall have equal bytes there.
void clear_stack();

/// A launch by any of the driver's launch functions.
struct LaunchRequest {
  Function* function = nullptr;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  void** parameters = nullptr;  ///< one pointer for each parameter, or
  void** extra = nullptr;       ///< a buffer of all
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
  bool is_cooperative = false;
};
Status launch(Recording& recording, const LaunchRequest& request);

/// Copies `rows` rows of `bytes` bytes. Addresses are those of the device or the host.
struct CopyRequest {
  std::uint64_t to = 0, from = 0, bytes = 0, rows = 1, to_pitch = 0, from_pitch = 0;
  StreamHandle stream = nullptr;
};
Status copy(Recording& recording, const CopyRequest& request);

struct FillRequest {
  std::uint64_t to = 0;
  std::uint32_t width = 1, value = 0;
  std::uint64_t count = 0, rows = 1, pitch = 0;
  StreamHandle stream = nullptr;
};
Status fill(Recording& recording, const FillRequest& request);

/// A call of an operator (hone_record_operator). Throws a plugin::Failure if the call does not have the
/// documented form.
Status call_operator(Recording& recording, const plugin::Value& call);

}  // namespace hone::record
