// The heap of device code (malloc and free in kernels), shared by all modules, with the size that cuCtxSetLimit
// sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone_emulated {

/// First fit over a list of chunks that lies in the memory itself. What a kernel does not free stays taken for the
/// next one, as on a device.
class Heap {
 public:
  Heap();
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Makes it this large and empty. False where memory is short.
  bool resize(std::uint64_t bytes);
  /// NULL where no chunk is large enough.
  void* allocate(std::uint64_t bytes);
  /// Whether device code has asked for any, which fixes the size.
  bool used() const { return used_; }
  /// False where `memory` is no allocation of this heap.
  bool release(void* memory);

 private:
  struct Chunk {
    std::uint64_t bytes;  ///< with this head
    std::uint64_t taken;  ///< kTaken or kFree
  };
  Chunk* next(Chunk* chunk) const;
  Chunk* first() const { return reinterpret_cast<Chunk*>(base_); }

  char* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool used_ = false;
};

}  // namespace hone_emulated
