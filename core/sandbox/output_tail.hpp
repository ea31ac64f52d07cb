// OutputTail: the end of a sandboxed process's output, in memory that no other process inherits.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace hone {

/// The last 64 KiB of a process's output.
///
/// Theory of operation. A jailed process may be a copy of the launcher (jail.hpp), which has read the output
/// of other processes. A copy must not inherit that output. So it is stored only in these pages, which are
/// excluded from every copy, and never on the stack or in a string.
class OutputTail {
 public:
  static constexpr std::size_t kBytesMax = 64 << 10;
  OutputTail() = default;
  OutputTail(OutputTail&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  OutputTail& operator=(OutputTail&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~OutputTail();

  /// Reads available output, a bounded amount, without waiting. False at the end of the pipe.
  bool drain(int fd);
  /// Valid until the next drain.
  std::string_view bytes() const;

 private:
  char* block_ = nullptr;  ///< from the first drain on
  std::size_t size_ = 0;
};

}  // namespace hone
