// Device memory for the private memory of recorded plans.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver.hpp"

struct hone_device;

namespace hone_gpu {

/// Device memory that stays mapped when a plan is unloaded, because freshly mapped memory is slow and
/// noisy at first. The pool reserves one range of addresses, as large as the device's memory, and
/// maps memory from the range's start on. It clears memory when it is taken and when it is given
/// back, because plans of one process follow each other. Clearing is in order with the device's stream.
class MemoryPool {
 public:
  explicit MemoryPool(hone_device& device);
  /// All taken memory must have been given back.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// The address of `bytes` bytes, a multiple of 512. Throws a Failure if the device has too little memory.
  std::uint64_t take(std::uint64_t bytes);
  /// Up to an eighth of the device's memory stays mapped for the next plan. 0 is allowed.
  void give_back(std::uint64_t address);

 private:
  struct Chunk {
    std::uint64_t begin, bytes;
    gpuMemory memory;
  };
  void grow(std::uint64_t end);
  void add_chunk(std::uint64_t bytes);
  void shrink(std::uint64_t end);
  std::uint64_t needed() const;
  void clear(std::uint64_t at, std::uint64_t bytes);

  hone_device& device_;
  std::uint64_t base_ = 0;
  std::uint64_t reserved_ = 0;  ///< bytes of addresses
  std::uint64_t mapped_ = 0;    ///< bytes with memory behind them
  std::vector<Chunk> chunks_;
  std::map<std::uint64_t, std::uint64_t> taken_;  ///< bytes by offset
};

/// The pool of a device; made at the first use.
MemoryPool& pool_of(hone_device& device);

}  // namespace hone_gpu
