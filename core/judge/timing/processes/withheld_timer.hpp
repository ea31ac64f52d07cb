// WithheldTimer: rounds of processes that get their inputs after the clock has started.
#pragma once

#include "judge/timing/protocol.hpp"

namespace hone {

/// Times rounds of modules on a device. Keeps track of how long the device has been idle. One thread.
class WithheldTimer : public RoundTimer {
 public:
  explicit WithheldTimer(const Measurement& measurement) : m_(measurement) {}

  Judgement time(const Side& side, const PreparedRound& prepared, double* seconds) override;
  /// Has the device move memory for about `seconds`.
  Status make_busy(double seconds);
  /// Contention::check_device(), which keeps the device busy as well.
  Status check_device(double seconds);
  /// Has the baseline's process give back memory of the device. Its next call takes it again, and does not count.
  Judgement trim_baseline();

 private:
  Status keep_busy();
  Judgement wake(const Side& side, const PreparedRound& prepared);

  const Measurement m_;
  bool trimmed_ = false;
  double idle_since_s_ = 0;
};

}  // namespace hone
