// Arena: memory that a judge makes on a device and shares with one candidate.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Zeroed when made, and never used for a second candidate. One thread.
class Arena {
 public:
  /// At least `bytes`, in whole pages. `populated`: all of them are there from the start, in the
  /// candidate too.
  static Result<std::unique_ptr<Arena>> create(const Backend& backend, hone_device* device,
                                               std::uint64_t bytes, bool populated);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* base() const { return base_; }  ///< as this process sees it; null on a device
  hone_buffer* buffer() const { return buffer_; }
  /// A copy of [at, at + bytes).
  Result<std::vector<char>> read(std::uint64_t at, std::uint64_t bytes) const;
  std::uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_.get(); }  ///< for the candidate, which can map but not resize it
  bool populated() const { return populated_; }
  /// Of a copy of part of another arena: where in that one the part begins. Offsets are those of the other arena, here too.
  std::uint64_t origin() const { return origin_; }
  void set_origin(std::uint64_t origin) { origin_ = origin; }

 private:
  explicit Arena(const Backend& backend) : backend_(backend) {}

  const Backend& backend_;
  hone_buffer* buffer_ = nullptr;
  char* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool populated_ = false;
  std::uint64_t origin_ = 0;
  UniqueFd fd_;
};

}  // namespace hone
