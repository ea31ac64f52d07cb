// Witness: the clock's look at outputs on a device. It reads secret rows spread over all of them, and
// the clock stops when they are here.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "judge/arena.hpp"
#include "judge/layout.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// One thread. Outputs that were not there yet when the clock stopped are found by settled(): so a
/// `done` that is said early stops no clock, and what is written later was not in time.
class Witness {
 public:
  static Result<std::unique_ptr<Witness>> create(const Backend& backend, hone_device* device);

  /// Chooses the rows of the round that follows.
  void aim(const Arena& arena, const Layout& layout, std::uint64_t secret);
  /// No round: nothing to look at.
  void forget() { rows_ = 0; }
  /// Reads them.
  Status look();
  /// Reads them once more, when everything has ended: whether they are the same.
  Result<bool> settled();

 private:
  Witness(const Backend& backend) : backend_(backend) {}
  Status read(char* to);

  const Backend& backend_;
  const Arena* arena_ = nullptr;
  std::uint64_t at_ = 0, pitch_ = 0, rows_ = 0;
  char* seen_ = nullptr;   ///< pinned
  char* again_ = nullptr;  ///< pinned
};

}  // namespace hone
