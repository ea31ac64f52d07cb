// Contention: other work that makes timed rounds longer, and what follows from it.
#pragma once

#include <vector>

#include "judge/session_input.hpp"
#include "judge/timing/timings.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

/// Whether the submission's delays are excused. A submission with one thread can be delayed only by other processes; several
/// threads could wait for each other.
bool excuses_submission(const Task& task);

/// What one measurement knows about contention. One thread.
class Contention {
 public:
  explicit Contention(const SessionInput& input) : input_(input) {}

  /// The time of a round that does not count: delays by other processes. Always those of the baseline, whose code is the
  /// dataset's.
  double excused_s(bool of_baseline, const Round& round) const;
  /// Takes note of whether the machine stood still in this round.
  void note(const Round& round);
  /// Whether the pair that was just timed must be dropped: heat or power limited the device, or the machine stood still.
  /// Sets `timings.throttled` if too many pairs were dropped.
  Result<bool> must_drop_pair(Timings& timings);

  /// On a device: a fault if processes of other judges have work on it.
  Judgement expect_still_device() const;

  // Modules on a device:
  /// Checks for about `seconds` whether other work takes time of the device.
  Status check_device(double seconds);
  /// Whether the checks since the last forget_checks() found any.
  bool device_was_shared() const;
  void forget_checks() { slowdowns_.clear(); }

 private:
  const SessionInput& input_;
  bool halted_ = false;  ///< the machine stood still in a round of this pair
  int dropped_ = 0;      ///< pairs, because of throttling
  std::vector<double>
      slowdowns_;  ///< of each check: time of a move of memory, relative to the shortest one
};

}  // namespace hone
