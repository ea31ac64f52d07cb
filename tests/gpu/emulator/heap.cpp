// A first-fit list of chunks.
#include "heap.hpp"

#include <sys/mman.h>

namespace hone_emulated {
namespace {

constexpr std::uint64_t kTaken = 0x6b61747468656170;
constexpr std::uint64_t kFree = 0x6565726674686561;
constexpr std::uint64_t kAlignment = 16;
constexpr std::uint64_t kDefaultBytes = 8 << 20;

}  // namespace

Heap::Heap() { resize(kDefaultBytes); }

Heap::~Heap() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

bool Heap::resize(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  bytes = (bytes + kPage - 1) / kPage * kPage;
  if (bytes == 0) bytes = kPage;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = static_cast<char*>(memory);
  bytes_ = bytes;
  *first() = {bytes, kFree};
  return true;
}

Heap::Chunk* Heap::next(Chunk* chunk) const {
  char* at = reinterpret_cast<char*>(chunk) + chunk->bytes;
  return at < base_ + bytes_ ? reinterpret_cast<Chunk*>(at) : nullptr;
}

void* Heap::allocate(std::uint64_t bytes) {
  used_ = true;
  if (bytes == 0 || bytes > bytes_) return nullptr;
  const std::uint64_t needed = (bytes + sizeof(Chunk) + kAlignment - 1) / kAlignment * kAlignment;
  for (Chunk* chunk = first(); chunk != nullptr; chunk = next(chunk)) {
    if (chunk->taken != kFree) continue;
    for (Chunk* after = next(chunk); after != nullptr && after->taken == kFree; after = next(chunk))
      chunk->bytes += after->bytes;
    if (chunk->bytes < needed) continue;
    if (chunk->bytes >= needed + 2 * sizeof(Chunk)) {
      auto* rest = reinterpret_cast<Chunk*>(reinterpret_cast<char*>(chunk) + needed);
      *rest = {chunk->bytes - needed, kFree};
      chunk->bytes = needed;
    }
    chunk->taken = kTaken;
    return chunk + 1;
  }
  return nullptr;
}

bool Heap::release(void* memory) {
  for (Chunk* chunk = first(); chunk != nullptr; chunk = next(chunk)) {
    if (chunk + 1 != memory) continue;
    if (chunk->taken != kTaken) return false;
    chunk->taken = kFree;
    return true;
  }
  return false;
}

}  // namespace hone_emulated
