// The device that programs see: facts of the real device from the caller, and the architecture's
// defaults for other facts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hone/plugin/value.hpp"

namespace hone::record {

/// Device attributes that core/record uses by name. The numbers are the driver's.
enum Attribute : int {
  kBlockThreads = 1,
  kBlockX = 2,
  kGridX = 5,
  kSharedBytesDefault = 8,
  kConstantBytes = 9,
  kWarpThreads = 10,
  kPitchMax = 11,
  kBlockRegisters = 12,
  kClockKhz = 13,
  kTextureAlignment = 14,
  kMultiprocessors = 16,
  kPciBus = 33,
  kMemoryBusBits = 37,
  kCacheBytes = 38,
  kMultiprocessorThreads = 39,
  kAsyncEngines = 40,
  kTexturePitchAlignment = 51,
  kMajor = 75,
  kMinor = 76,
  kMultiprocessorSharedBytes = 81,
  kMultiprocessorRegisters = 82,
  kSharedBytesMax = 97,
  kMultiprocessorBlocks = 106,
  kPersistingCacheBytes = 108,
  kAccessWindowBytes = 109,
  kSharedBytesReserved = 111,
  kClusters = 120,
};

/// The facts that the driver reports about its only device. A plain value.
struct Device {
  std::string architecture = "sm_90";
  std::string name = "recording device";
  std::uint64_t memory_bytes = std::uint64_t{80} << 30;
  std::map<int, int> attributes;  ///< from the caller; they override the defaults

  /// 0 for an unknown attribute.
  int attribute(int id) const;
  /// 90 for "sm_90a".
  int architecture_number() const;
};

/// Reads the facts of hone_record_begin(). Throws a plugin::Failure for a fact of another type.
Device device_of(const plugin::Value& facts);

}  // namespace hone::record
