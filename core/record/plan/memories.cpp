// The address ranges of recorded memory.
#include "record/plan/memories.hpp"

#include <sys/mman.h>

namespace hone::record {
namespace {

constexpr std::uint64_t kUnit = std::uint64_t{2} << 20;  // each range starts in a new unit
constexpr std::uint64_t kGap = kUnit;                    // at least, between two ranges
constexpr std::uint64_t kPrivateOffset = 512;            // alignment that the driver promises
constexpr std::uint64_t kTaskOffset = 256;               // where the judge's arena places tensors
constexpr std::size_t kMemoriesOfProcessMax = std::size_t{1} << 20;

struct Range {
  std::uint64_t start, bytes;
};
/// Far from the addresses of programs and libraries. Rationale: a pair of 32-bit numbers in a kernel's parameters should
/// not look like an address. The upper halves are numbers from 27421 or from 18733 on, which are unlikely sizes of a
/// tensor. For the last ranges, the system chooses the address; under a sanitizer, the larger one may not fit.
constexpr Range kRanges[] = {{0x6b1d00000000, std::uint64_t{1} << 43},
                             {0x492d00000000, std::uint64_t{1} << 43},
                             {0, std::uint64_t{1} << 40},
                             {0, std::uint64_t{1} << 38}};

std::uint64_t rounded_up(std::uint64_t value) { return (value + kUnit - 1) / kUnit * kUnit; }

}  // namespace

void Memories::reserve() {
  for (const Range& range : kRanges) {
    void* const wanted = reinterpret_cast<void*>(range.start);  // NOLINT: an address on purpose
    const int fixed = range.start != 0 ? MAP_FIXED_NOREPLACE : 0;
    void* const got = ::mmap(wanted, range.bytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (got == MAP_FAILED) continue;
    start_ = reinterpret_cast<std::uint64_t>(got);
    next_ = rounded_up(start_);
    end_ = start_ + range.bytes;
    return;
  }
}

std::optional<MemoryId> Memories::add(MemoryState memory) {
  if (start_ == 0) reserve();
  const std::uint64_t offset =
      memory.kind == recorded::MemoryKind::kTask ? kTaskOffset : kPrivateOffset;
  const std::uint64_t left = end_ - next_;
  if (states_.size() >= kMemoriesOfProcessMax || left < 2 * kUnit + kGap ||
      memory.bytes > left - 2 * kUnit - kGap)
    return std::nullopt;
  memory.address = next_ + offset;
  next_ = rounded_up(memory.address + memory.bytes + kGap);
  const auto id = static_cast<MemoryId>(states_.size());
  by_address_[memory.address] = id;
  if (memory.kind != recorded::MemoryKind::kGlobal) live_bytes_ += memory.bytes;
  states_.push_back(std::move(memory));
  return id;
}

bool Memories::free(std::uint64_t address) {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return false;
  MemoryState& memory = states_[found->second];
  if (memory.is_freed || memory.kind == recorded::MemoryKind::kGlobal) return false;
  memory.is_freed = true;
  live_bytes_ -= memory.bytes;
  return true;
}

Pointed Memories::point(std::uint64_t word) const {
  if (!is_device(word)) {
    return {host_holding(word) ? Pointed::At::kHostMemory : Pointed::At::kElsewhere, {}};
  }
  auto after = by_address_.upper_bound(word);
  if (after == by_address_.begin()) return {Pointed::At::kNoMemory, {}};
  const MemoryId id = std::prev(after)->second;
  const MemoryState& memory = states_[id];
  if (word - memory.address > memory.bytes) return {Pointed::At::kNoMemory, {}};
  if (memory.is_freed) return {Pointed::At::kFreedMemory, {}};
  return {Pointed::At::kMemory, {id, word - memory.address}};
}

std::optional<MemoryId> Memories::holding(std::uint64_t address) const {
  const Pointed pointed = point(address);
  if (pointed.at != Pointed::At::kMemory) return std::nullopt;
  const MemoryId id = pointed.place.memory;
  if (pointed.place.offset == states_[id].bytes) return std::nullopt;
  return id;
}

bool Memories::is_device(std::uint64_t address) const {
  return start_ != 0 && address >= start_ && address < end_;
}

std::optional<std::uint64_t> Memories::host_holding(std::uint64_t address) const {
  const auto after = host_.upper_bound(address);
  if (after == host_.begin()) return std::nullopt;
  const auto& [start, bytes] = *std::prev(after);
  if (address - start >= bytes) return std::nullopt;
  return start;
}

}  // namespace hone::record
