// Witness: reads secret rows spread over all outputs on a device. The clock stops when they have arrived.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "judge/arena.hpp"
#include "judge/layout.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Pinned memory that the rows are read into. One for all witnesses of a judge: a read takes a third longer in some places than
/// in others, and both sides of a pair must be read alike.
class WitnessArea {
 public:
  static Result<WitnessArea> create(const Backend& backend, hone_device* device);
  char* memory() const { return memory_; }

 private:
  char* memory_ = nullptr;  ///< the device's, until it is closed
};

/// One thread. is_unchanged() finds outputs that were written after the clock had stopped, so a `done` that is reported early gains
/// nothing.
class Witness {
 public:
  /// Both outlive it.
  Witness(const Backend& backend, const WitnessArea& area) : backend_(backend), area_(area) {}

  /// Chooses the rows of the round that follows.
  void aim(const Arena& arena, const Layout& layout, std::uint64_t secret);
  /// No round follows: read() reads nothing.
  void forget() {
    rows_ = 0;
    seen_.clear();
  }
  /// Reads them; the clock waits for it.
  Status read() { return rows_ == 0 ? Status() : read(*arena_); }
  /// Reads and returns them.
  Result<std::string> read_rows();
  /// Keeps the rows of the last read() for is_unchanged(), because other witnesses use the same area.
  void keep();
  /// Reads them once more, in the arena when the round has ended or in a copy of it. Whether they are unchanged.
  Result<bool> is_unchanged(const Arena& arena);

 private:
  Status read(const Arena& arena);

  const Backend& backend_;
  const WitnessArea& area_;
  const Arena* arena_ = nullptr;
  std::uint64_t at_ = 0, pitch_ = 0, rows_ = 0;
  std::vector<char> seen_;
};

}  // namespace hone
