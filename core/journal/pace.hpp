// Pace: time for deletions between two commits, adapted to the duration of the last commit.
#pragma once

#include <algorithm>
#include <chrono>

namespace hone {

/// A transaction takes its own time and the disk's time to write, which is known only afterwards. After a
/// transaction that took too long, the next one does half as much.
class Pace {
 public:
  using Span = std::chrono::microseconds;
  static constexpr Span kMost{5000}, kLeast{250};
  static constexpr Span kGoal{20'000};  ///< limit of a transaction, and so of a step's wait

  Span budget() const { return budget_; }
  void took(Span whole) {
    const Span next = whole > kGoal ? budget_ / 2 : budget_ + budget_ / 8;
    budget_ = std::clamp(next, kLeast, kMost);
  }

 private:
  Span budget_ = kMost;
};

}  // namespace hone
