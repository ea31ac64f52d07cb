// OutputTail: pages that forked copies of this process do not inherit.
#include "sandbox/output_tail.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace hone {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kBlockBytes = 2 * OutputTail::kBytesMax + kReadBytes;

char* make_block() {
  void* block =
      ::mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  ::madvise(block, kBlockBytes, MADV_DONTFORK);
  return static_cast<char*>(block);
}

}  // namespace

OutputTail::~OutputTail() {
  if (block_ != nullptr) ::munmap(block_, kBlockBytes);
}

bool OutputTail::drain(int fd) {
  if (block_ == nullptr) block_ = make_block();
  for (int round = 0; round < 8;
       ++round) {  // bounded, so that one process cannot delay the output of others
    const ssize_t n = ::read(fd, block_ + size_, kReadBytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    size_ += static_cast<std::size_t>(n);
    if (size_ <= 2 * kBytesMax) continue;
    std::memmove(block_, block_ + size_ - kBytesMax, kBytesMax);
    size_ = kBytesMax;
  }
  return true;
}

std::string_view OutputTail::bytes() const {
  const std::size_t shown = size_ < kBytesMax ? size_ : kBytesMax;
  return {block_ + (size_ - shown), shown};
}

}  // namespace hone
