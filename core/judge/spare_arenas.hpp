// SpareArenas: the judge's own device memory between two uses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "judge/arena.hpp"

namespace hone {

/// Rationale: to allocate device memory takes longer than to copy its contents, and ten times as long while contexts are
/// created.
class SpareArenas {
 public:
  static constexpr std::size_t kMost = 40;              ///< spares
  static constexpr std::uint64_t kBytesMax = 1u << 29;  ///< of all spares

  /// An arena of at least `bytes`, and not many more; null if there is none.
  std::unique_ptr<Arena> take(std::uint64_t bytes) {
    const auto found = std::find_if(spares_.begin(), spares_.end(), [bytes](const auto& spare) {
      return spare->bytes() >= bytes && spare->bytes() <= std::max(kSmallBytes, kWaste * bytes);
    });
    if (found == spares_.end()) return nullptr;
    std::unique_ptr<Arena> spare = std::move(*found);
    spares_.erase(found);
    bytes_ -= spare->bytes();
    return spare;
  }
  void keep(std::unique_ptr<Arena> spare) {
    if (spare == nullptr) return;
    spare->set_origin(0);  // it may have been a copy of a part of an arena
    bytes_ += spare->bytes();
    spares_.push_back(std::move(spare));
    while (spares_.size() > kMost || bytes_ > kBytesMax) {
      bytes_ -= spares_.front()->bytes();
      spares_.erase(spares_.begin());
    }
  }
  void release() {
    spares_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr std::uint64_t kSmallBytes = 1u << 21, kWaste = 4;
  std::vector<std::unique_ptr<Arena>> spares_;  ///< first: kept longest
  std::uint64_t bytes_ = 0;
};

}  // namespace hone
