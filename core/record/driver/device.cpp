// The table of device attributes, by architecture.
#include "record/driver/device.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace hone::record {
namespace {

struct Row {
  int id;
  int value;
};

/// Attributes of all architectures from 8.0 on, sorted by number. Values that differ between devices
/// are those of Hopper.
constexpr Row kDefaults[] = {
    {kBlockThreads, 1024},
    {kBlockX, 1024},
    {3, 1024},  // block y
    {4, 64},    // block z
    {kGridX, 2147483647},
    {6, 65535},  // grid y
    {7, 65535},  // grid z
    {kSharedBytesDefault, 49152},
    {kConstantBytes, 65536},
    {kWarpThreads, 32},
    {kPitchMax, 2147483647},
    {kBlockRegisters, 65536},
    {kClockKhz, 1980000},
    {kTextureAlignment, 512},
    {15, 1},  // copies overlap with kernels
    {kMultiprocessors, 132},
    {19, 1},       // host memory can be mapped
    {21, 131072},  // widths and heights of textures, up to 29
    {22, 131072},
    {23, 65536},
    {24, 16384},
    {25, 16384},
    {26, 16384},
    {27, 32768},
    {28, 32768},
    {29, 2048},
    {30, 512},  // alignment of surfaces
    {31, 1},    // concurrent kernels
    {32, 1},    // ECC
    {kPciBus, 4},
    {36, 2619000},  // memory clock (kHz)
    {kMemoryBusBits, 5120},
    {kCacheBytes, 52428800},
    {kMultiprocessorThreads, 2048},
    {kAsyncEngines, 3},
    {41, 1},  // unified addressing
    {kTexturePitchAlignment, 32},
    {kMajor, 9},
    {kMinor, 0},
    {78, 1},  // stream priorities
    {79, 1},  // global memory in L1
    {80, 1},  // local memory in L1
    {kMultiprocessorSharedBytes, 233472},
    {kMultiprocessorRegisters, 65536},
    {83, 1},   // managed memory
    {87, 64},  // ratio of single to double precision
    {89, 1},   // concurrent managed access
    {90, 1},   // compute preemption
    {91, 1},   // host pointers of registered memory
    {95, 1},   // cooperative launch
    {kSharedBytesMax, 232448},
    {98, 1},  // flushes of remote writes
    {99, 1},  // registration of host memory
    {kMultiprocessorBlocks, 32},
    {kPersistingCacheBytes, 33554432},
    {kAccessWindowBytes, 134213632},
    {kSharedBytesReserved, 1024},
    {115, 1},  // memory pools
    {kClusters, 1},
    {127, 1},  // tensor maps
    {129, 1},  // unified function pointers
};

/// An attribute of an architecture that differs from the default.
struct Difference {
  int architecture;
  Row row;
};
constexpr Difference kDifferences[] = {
    {80, {kMultiprocessors, 108}},
    {80, {kCacheBytes, 41943040}},
    {80, {kMultiprocessorSharedBytes, 167936}},
    {80, {kSharedBytesMax, 166912}},
    {80, {kClusters, 0}},
    {80, {127, 0}},
    {86, {kMultiprocessors, 84}},
    {86, {kMultiprocessorThreads, 1536}},
    {86, {kMultiprocessorSharedBytes, 102400}},
    {86, {kSharedBytesMax, 101376}},
    {86, {kMultiprocessorBlocks, 16}},
    {86, {kClusters, 0}},
    {86, {127, 0}},
    {89, {kMultiprocessors, 128}},
    {89, {kMultiprocessorThreads, 1536}},
    {89, {kMultiprocessorSharedBytes, 102400}},
    {89, {kSharedBytesMax, 101376}},
    {89, {kMultiprocessorBlocks, 24}},
    {89, {kClusters, 0}},
    {89, {127, 0}},
    {100, {kMultiprocessors, 148}},
    {120, {kMultiprocessorThreads, 1536}},
    {120, {kMultiprocessorSharedBytes, 102400}},
    {120, {kSharedBytesMax, 101376}},
    {120, {kMultiprocessorBlocks, 24}},
};

int positive_int(const plugin::Value& value, int limit) {
  const std::int64_t number = value.as_int();
  if (number < 0 || number > limit) plugin::fail(HONE_INVALID_ARGUMENT, "a number out of range");
  return static_cast<int>(number);
}

}  // namespace

int Device::architecture_number() const {
  const std::size_t at = architecture.find_first_of("0123456789");
  return at == std::string::npos ? 0 : std::atoi(architecture.c_str() + at);
}

int Device::attribute(int id) const {
  if (const auto given = attributes.find(id); given != attributes.end()) return given->second;
  const int number = architecture_number();
  if (id == kMajor) return number / 10;
  if (id == kMinor) return number % 10;
  for (const Difference& one : kDifferences) {
    if (one.architecture == number && one.row.id == id) return one.row.value;
  }
  const auto* row =
      std::find_if(std::begin(kDefaults), std::end(kDefaults), [id](Row r) { return r.id == id; });
  return row == std::end(kDefaults) ? 0 : row->value;
}

Device device_of(const plugin::Value& facts) {
  constexpr int kIntMax = 2147483647;
  constexpr std::pair<const char*, int> kNumbers[] = {{"cache_bytes", kCacheBytes},
                                                      {"multiprocessors", kMultiprocessors},
                                                      {"block_threads", kBlockThreads},
                                                      {"shared_bytes", kSharedBytesMax}};
  Device device;
  if (const auto* value = facts.find("architecture")) device.architecture = value->as_string();
  if (const auto* value = facts.find("name")) device.name = value->as_string();
  if (const auto* value = facts.find("memory_bytes"))
    device.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(value->as_int(), 0));
  for (const auto& [name, id] : kNumbers) {
    if (const auto* value = facts.find(name)) device.attributes[id] = positive_int(*value, kIntMax);
  }
  if (const auto* given = facts.find("attributes")) {
    for (const auto& [id, value] : given->as_map())
      device.attributes[std::atoi(id.c_str())] = static_cast<int>(value.as_int());
  }
  return device;
}

}  // namespace hone::record
