// BeforeAndAfter: times the baseline while a module's process is frozen, or before and after its rounds.
//
// Theory of operation. The control group of a module's process is frozen while the baseline is timed between its rounds
// (baseline_between.hpp). Work that the module left on the device goes on and could slow the baseline, so the judge checks the
// device for contention. If there was some, the baseline is timed once more after the submission has ended. If both times
// differ, the faster one counts. If no control group can freeze the submission, the baseline is timed before
// the submission's rounds and after its end. No other judge uses the device (evaluate/mode.hpp).
// The outputs of timed rounds are checked later (stored_rounds.hpp).
#pragma once

#include <optional>
#include <vector>

#include "judge/timing/processes/baseline_between.hpp"
#include "judge/timing/processes/process_rounds.hpp"

namespace hone {

/// One measurement. One thread.
class BeforeAndAfter : public Protocol {
 public:
  explicit BeforeAndAfter(const Measurement& measurement);

  Judgement measure() override;

 private:
  Judgement time_before();
  Judgement time_after();
  void combine(std::vector<double> after);
  Judgement time_rounds(bool of_baseline, int enough, int most, std::vector<double>& rounds);
  Judgement time_single_rounds(bool of_baseline, std::vector<double>& rounds);
  Judgement time_baseline(std::size_t calls, std::optional<PreparedRound>& kept, double* seconds);
  Judgement stand_in(const PreparedRound& prepared);
  Runner* awake_between(bool of_baseline) const;
  bool all_late(const std::vector<double>& single_call_s) const;
  int rounds_to_come() const;
  Judgement prepare();
  Judgement time_submission();
  Judgement end_submission();

  const Measurement m_;
  ProcessRounds rounds_;
  BaselineBetween between_;
  const bool
      freezes_;  ///< the submission is frozen between its rounds, with the baseline timed there
};

}  // namespace hone
