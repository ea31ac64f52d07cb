// Device memory for the private memory of recorded plans.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver.hpp"

struct hone_device;

namespace hone_gpu {

/// Physical memory that stays mapped when a plan is unloaded, because freshly mapped memory is slow
/// and noisy at first. Addresses are reserved once, as many as the device has memory, and mapped
/// from their begin on. What is taken is zeroed, and so is what is given back: plans follow each
/// other in one process. Everything is in order with the device's stream.
class MemoryPool {
 public:
  explicit MemoryPool(hone_device& device);
  /// All that was taken must have been given back.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// The address of `bytes` bytes at a multiple of 512. A Failure where the device has too few.
  std::uint64_t take(std::uint64_t bytes);
  /// Keeps up to an eighth of the device's memory for the next plan. 0 is allowed.
  void give_back(std::uint64_t address);

 private:
  struct Chunk {
    std::uint64_t begin, bytes;
    gpuMemory memory;
  };
  void grow(std::uint64_t end);
  void add_chunk(std::uint64_t bytes);
  void shrink(std::uint64_t end);
  void clear(std::uint64_t at, std::uint64_t bytes);

  hone_device& device_;
  std::uint64_t base_ = 0;
  std::uint64_t reserved_ = 0;  ///< bytes of addresses
  std::uint64_t mapped_ = 0;    ///< bytes with memory behind them
  std::vector<Chunk> chunks_;
  std::map<std::uint64_t, std::uint64_t> taken_;  ///< offset and bytes
};

/// The device's, made at its first use.
MemoryPool& pool_of(hone_device& device);

}  // namespace hone_gpu
