// The memory that a program has asked for: address ranges with nothing behind them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/recorded_plan.hpp"

namespace hone::record {

using MemoryId = std::uint32_t;

struct MemoryState {
  recorded::MemoryKind kind = recorded::MemoryKind::kPrivate;
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t argument = 0;  ///< kTask
  std::uint32_t image = 0;     ///< kGlobal
  std::string name;            ///< kGlobal
  bool is_constant = false;    ///< kGlobal: device code cannot write it
  std::uint64_t run = 0;       ///< the run that allocated it, 0: none
  bool is_freed = false;
  bool is_result = false;  ///< private memory that became the task's output
};

/// The target of a number that may be an address.
struct Pointed {
  enum class At { kElsewhere, kMemory, kFreedMemory, kNoMemory, kHostMemory };
  At at = At::kElsewhere;
  recorded::Place place;  ///< kMemory
};

/// Owns the address ranges. Each range is used once, so that an address names one allocation for
/// the life of the process. Not thread-safe.
///
///   auto memory = memories.add({.bytes = 4096});
///   memories.point(memories.at(*memory).address + 8);  // {kMemory, {*memory, 8}}
class Memories {
 public:
  /// nullopt if the address range is used up.
  std::optional<MemoryId> add(MemoryState memory);
  /// False if no memory that is not freed starts there.
  bool free(std::uint64_t address);
  MemoryState& at(MemoryId id) { return states_[id]; }
  const MemoryState& at(MemoryId id) const { return states_[id]; }
  std::size_t count() const { return states_.size(); }
  /// The size of all private memory and tensors of the task that are not freed.
  std::uint64_t live_bytes() const { return live_bytes_; }

  Pointed point(std::uint64_t word) const;
  /// The memory that contains the byte at `address`.
  std::optional<MemoryId> holding(std::uint64_t address) const;
  /// Whether `address` is in the device's range, with or without memory there.
  bool is_device(std::uint64_t address) const;
  /// Whether `address` is in the part of the device's range that memory was allocated from.
  bool was_given(std::uint64_t address) const { return address >= start_ && address < next_; }

  void add_host(std::uint64_t address, std::uint64_t bytes) { host_[address] = bytes; }
  bool remove_host(std::uint64_t address) { return host_.erase(address) > 0; }
  /// The start of the page-locked host memory that holds `address`.
  std::optional<std::uint64_t> host_holding(std::uint64_t address) const;

 private:
  void reserve();

  std::vector<MemoryState> states_;
  std::map<std::uint64_t, MemoryId> by_address_;
  std::map<std::uint64_t, std::uint64_t> host_;
  std::uint64_t start_ = 0, next_ = 0, end_ = 0, live_bytes_ = 0;
};

}  // namespace hone::record
