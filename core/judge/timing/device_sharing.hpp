// DeviceSharing: whether other judges may measure on the device now.
#pragma once

#include "judge/session_input.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

/// One thread.
class DeviceSharing {
 public:
  explicit DeviceSharing(const SessionInput& input)
      : input_(input), freezes_(input.submission.can_stand_still()) {}

  bool freezes_submission() const { return freezes_; }
  /// Yields the device to judges that wait to measure. A submission that cannot be frozen never shares the device with a
  /// measurement, so there is nothing to yield.
  Judgement give_way();
  /// Returns once this judge has the device exclusively.
  Judgement await_exclusive();
  Judgement share();

 private:
  const SessionInput& input_;
  const bool freezes_;
  bool shares_ = true;
};

}  // namespace hone
