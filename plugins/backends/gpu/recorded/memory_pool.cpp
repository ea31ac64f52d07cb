// First fit in one range of addresses. Memory is mapped at the end of the mapped part when it is needed.
#include "recorded/memory_pool.hpp"

#include <algorithm>

#include "device.hpp"
#include "errors.hpp"
#include "recorded/layout.hpp"

namespace hone_gpu {
namespace {

constexpr std::uint64_t kPlaceAlign = 512;
constexpr std::uint64_t kKeptPart = 8;  ///< 1/8 of the device's memory stays mapped
constexpr std::uint64_t kChunkMax = std::uint64_t{256} << 20;  ///< unit in which memory is unmapped

}  // namespace

MemoryPool::MemoryPool(hone_device& device) : device_(device) {
  const Driver& gpu = device.gpu;
  std::size_t total = 0;
  check(gpu, gpu.gpuDeviceTotalMem(&total, device.ordinal), "memory of the device");
  reserved_ = total / device.granularity * device.granularity;
  gpuAddress base{};
  check(gpu, gpu.gpuMemAddressReserve(&base, reserved_, 0, to_address(0), 0),
        "reserve addresses for plans");
  base_ = from_address(base);
}

MemoryPool::~MemoryPool() {
  shrink(0);
  device_.gpu.gpuMemAddressFree(to_address(base_), reserved_);
}

std::uint64_t MemoryPool::take(std::uint64_t bytes) {
  const std::uint64_t size = round_up(std::max<std::uint64_t>(bytes, 1), kPlaceAlign);
  std::uint64_t at = 0;
  for (const auto& [begin, taken] : taken_) {
    if (begin >= at + size) break;
    at = begin + taken;
  }
  if (size > reserved_ || at > reserved_ - size) {
    hone::plugin::fail(HONE_RESOURCE_EXHAUSTED, "the plan needs " + std::to_string(bytes) +
                                                    " bytes of private memory; the device has " +
                                                    std::to_string(reserved_) + " bytes");
  }
  try {
    grow(at + size);
    clear(at, size);
  } catch (...) {
    shrink(needed());
    throw;
  }
  taken_[at] = size;
  return base_ + at;
}

/// Bytes that stay mapped: up to the end of taken memory, and at least 1/kKeptPart of the device's memory.
std::uint64_t MemoryPool::needed() const {
  const std::uint64_t kept = reserved_ / kKeptPart;
  if (taken_.empty()) return kept;
  return std::max(kept, taken_.rbegin()->first + taken_.rbegin()->second);
}

void MemoryPool::give_back(std::uint64_t address) {
  const auto found = taken_.find(address - base_);
  if (address == 0 || found == taken_.end()) return;
  const Driver& gpu = device_.gpu;
  // The result is ignored: it fails only in a context that a fault has ended, and no plan follows there.
  gpu.gpuMemsetD8Async(to_address(address), 0, found->second, device_.stream);
  taken_.erase(found);
  if (mapped_ > needed()) {
    gpu.gpuStreamSynchronize(device_.stream);
    shrink(needed());
  }
}

void MemoryPool::grow(std::uint64_t end) {
  while (mapped_ < end)
    add_chunk(std::min(round_up(end - mapped_, device_.granularity), kChunkMax));
}

void MemoryPool::add_chunk(std::uint64_t bytes) {
  const Driver& gpu = device_.gpu;
  gpuAllocation allocation = allocation_of(device_);
  allocation.handle_types = 0;  // no other process maps it
  gpuMemory memory{};
  check(gpu, gpu.gpuMemCreate(&memory, bytes, &allocation, 0), "memory for a plan");
  const gpuAddress address = to_address(base_ + mapped_);
  const gpuResult mapped = gpu.gpuMemMap(address, bytes, 0, memory, 0);
  if (mapped != 0) {
    gpu.gpuMemRelease(memory);
    check(gpu, mapped, "map memory for a plan");
  }
  chunks_.push_back({mapped_, bytes, memory});
  mapped_ += bytes;
  const gpuAccess access{{kMemoryOfDevice, device_.ordinal}, kAccessReadWrite};
  check(gpu, gpu.gpuMemSetAccess(address, bytes, &access, 1), "allow access to memory for a plan");
}

void MemoryPool::shrink(std::uint64_t end) {
  const Driver& gpu = device_.gpu;
  while (!chunks_.empty() && chunks_.back().begin >= end) {
    const Chunk& chunk = chunks_.back();
    gpu.gpuMemUnmap(to_address(base_ + chunk.begin), chunk.bytes);
    gpu.gpuMemRelease(chunk.memory);
    mapped_ = chunk.begin;
    chunks_.pop_back();
  }
}

void MemoryPool::clear(std::uint64_t at, std::uint64_t bytes) {
  const Driver& gpu = device_.gpu;
  check(gpu, gpu.gpuMemsetD8Async(to_address(base_ + at), 0, bytes, device_.stream),
        "clear memory for a plan");
}

MemoryPool& pool_of(hone_device& device) {
  if (device.pool == nullptr) device.pool = std::make_shared<MemoryPool>(device);
  return *device.pool;
}

}  // namespace hone_gpu
