// Witness: the clock's look at outputs on a device. It reads secret rows spread over all of them, and
// the clock stops when they are here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "judge/arena.hpp"
#include "judge/layout.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Pinned memory of this process that looks arrive in. One for all witnesses of a judge: a look takes
/// a third longer in some places than in others, and both sides of a pair must be looked at alike.
class WitnessArea {
 public:
  static Result<WitnessArea> create(const Backend& backend, hone_device* device);
  char* memory() const { return memory_; }

 private:
  char* memory_ = nullptr;  ///< the device's, until it is closed
};

/// One thread. Outputs that were not there yet when the clock stopped are found by agrees(): so a
/// `done` that is said early stops no clock, and what is written later was not in time.
class Witness {
 public:
  /// Both outlive it.
  Witness(const Backend& backend, const WitnessArea& area) : backend_(backend), area_(area) {}

  /// Chooses the rows of the round that follows.
  void aim(const Arena& arena, const Layout& layout, std::uint64_t secret);
  /// No round: nothing to look at.
  void forget() {
    rows_ = 0;
    seen_.clear();
  }
  /// Reads them: what the clock waits for.
  Status look() { return rows_ == 0 ? Status() : read(*arena_); }
  /// Reads them, and says what was there.
  Result<std::string> see();
  /// Keeps what the last look saw, for agrees(): others look into the same area.
  void keep();
  /// Reads them once more, in the arena itself when everything has ended, or in a copy of it: whether
  /// they are the same.
  Result<bool> agrees(const Arena& arena);

 private:
  Status read(const Arena& arena);

  const Backend& backend_;
  const WitnessArea& area_;
  const Arena* arena_ = nullptr;
  std::uint64_t at_ = 0, pitch_ = 0, rows_ = 0;
  std::vector<char> seen_;
};

}  // namespace hone
