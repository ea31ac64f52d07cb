// Empties a device's cache with the judge's own device code.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "player/calls.hpp"

namespace hone {

/// Reads more memory than the cache holds, so that the cache has nothing of a call, and nothing that a later kernel would have
/// to write back.
class CacheSweep {
 public:
  explicit CacheSweep(CallPlayer& player) : player_(player) {}

  /// `harness`: the artifact of core/judge/harness/harness.cu. `bytes`: what run() reads.
  Status open(const std::string& harness, std::uint64_t bytes);
  Status run();

 private:
  Result<hone_buffer*> make_buffer(std::uint64_t bytes);

  CallPlayer& player_;
  hone_kernel* kernel_ = nullptr;
  hone_buffer* table_ = nullptr;
  std::uint64_t arguments_[2] = {};  ///< of the kernel
};

}  // namespace hone
