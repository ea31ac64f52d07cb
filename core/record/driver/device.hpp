// The device that programs see: facts of the true device that the caller gives, and defaults of its
// architecture for the rest.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hone/plugin/value.hpp"

namespace hone::record {

/// Device attributes that something in this folder uses by name. The numbers are the driver's.
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

/// A plain value: what the driver answers about its only device.
struct Device {
  std::string architecture = "sm_90";
  std::string name = "recording device";
  std::uint64_t memory_bytes = std::uint64_t{80} << 30;
  std::map<int, int> attributes;  ///< of the caller, before the defaults

  /// 0 for an attribute that no table has.
  int attribute(int id) const;
  /// 90 for "sm_90a".
  int architecture_number() const;
};

/// Reads the facts of hone_record_begin(). Throws a plugin::Failure for facts that are not of their
/// type.
Device device_of(const plugin::Value& facts);

}  // namespace hone::record
