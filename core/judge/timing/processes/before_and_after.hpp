// BeforeAndAfter: the baseline is timed before the rounds of a module's process, and after the process has ended.
//
// Theory of operation. A module's own host code can use the device at any time, also while the baseline is timed. It gains by
// that only if the baseline becomes slower, and it cannot slow the rounds after its end. So if both parts of the baseline differ,
// the faster one counts. What comes between two rounds changes their time, by a tenth where it was measured. So the same comes
// between rounds of either side: inputs are prepared, outputs are copied, and answers computed. No other judge uses the device meanwhile (Mode::kModuleOnDevice, evaluate/mode.hpp). The outputs of
// timed rounds are checked later (stored_rounds.hpp).
#pragma once

#include <vector>

#include "judge/timing/processes/stored_rounds.hpp"
#include "judge/timing/processes/withheld_timer.hpp"
#include "judge/timing/protocol.hpp"

namespace hone {

/// One measurement. One thread.
class BeforeAndAfter : public Protocol {
 public:
  explicit BeforeAndAfter(const Measurement& measurement);

  Judgement measure() override;

 private:
  Judgement time_rounds(bool of_baseline, int enough, int most, std::vector<double>& rounds);
  Judgement time_single_rounds(bool of_baseline, std::vector<double>& rounds);
  Judgement time_round(bool of_baseline, std::size_t calls, int coming, double* seconds);
  Runner& runner_of(bool of_baseline) const;
  Side side_of(bool of_baseline, std::size_t calls);
  bool all_late(const std::vector<double>& single_call_s) const;
  Judgement end_submission();
  void combine(std::vector<double> after);

  const Measurement m_;
  WithheldTimer timer_;
  StoredRounds store_;
};

}  // namespace hone
