// Rounds of modules with host code on a device: what both parts of their protocol share.
#pragma once

#include <vector>

#include "judge/timing/processes/stored_rounds.hpp"
#include "judge/timing/processes/withheld_timer.hpp"
#include "judge/timing/protocol.hpp"

namespace hone {

inline constexpr int kRoundsLeast = 3;       // least rounds of one side: fewer have no quartiles
inline constexpr int kWarmRounds = 1;        // rounds that do not count: the first sets things up
inline constexpr int kSingleCallRounds = 3;  // most single-call rounds of one side, if none is late
inline constexpr double kSteady = 0.02;      // spread of rounds that more of them would not reduce
inline constexpr int kMore = 2;              // rounds prepared at a time, beyond the least number

/// By quartiles, over their median.
inline bool steady(const std::vector<double>& rounds) {
  const Floor all = floor_of(rounds);
  return all.spread <= kSteady * all.seconds;
}

/// Rounds of both sides, in one measurement.
class ProcessRounds {
 public:
  explicit ProcessRounds(const Measurement& measurement);

  /// Whether the submission is frozen while the baseline is timed; else it is timed before and after.
  bool freezes_submission() const { return m_.input.submission.can_stand_still(); }
  Side side_of(bool of_baseline, std::size_t calls);
  /// `coming`: at least this many rounds of the submission follow, this one included.
  Judgement time_submission(std::size_t calls, int coming, double* seconds);

  const Measurement& measurement() const { return m_; }
  WithheldTimer& timer() { return timer_; }
  StoredRounds& store() { return store_; }
  const StoredRounds& store() const { return store_; }

 private:
  const Measurement m_;
  WithheldTimer timer_;
  StoredRounds store_;
};

}  // namespace hone
