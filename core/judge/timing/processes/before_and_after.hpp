// BeforeAndAfter: the baseline is timed while a module's process is frozen or not there.
//
// Theory of operation. The control group of a module's process is frozen while the baseline is timed between its rounds
// (baseline_between.hpp). Work that the module left on the device goes on and could slow the baseline, so the judge checks the
// device for contention. If there was some, the baseline is timed once more after the submission has ended. If both times
// differ, the faster one counts. If no control group can hold the submission, the baseline is timed before it is loaded, and
// again after it has ended. The rounds after one submission serve as those before the next of its task, if that follows at
// once. Work before the first pair is done while other judges use the device. While another judge measures, this judge's
// submission is frozen. The outputs of timed rounds are checked later, while others use the device again (stored_rounds.hpp).
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

  Judgement before_loading() override;
  Judgement give_way() override { return rounds_.sharing().give_way(); }
  Judgement measure() override;
  UncontendedTime uncontended() const override { return between_.uncontended(); }

 private:
  bool take_last_block();
  Judgement time_before();
  Judgement time_after();
  void combine(std::vector<double> after, const std::vector<double>& new_floors);
  Judgement time_block(bool of_baseline, int enough, int most, std::vector<double>& rounds);
  Judgement time_rounds(bool of_baseline, int enough, int most, std::vector<double>& rounds);
  Judgement time_single_rounds(bool of_baseline, std::vector<double>& rounds);
  Judgement time_baseline(std::size_t calls, std::optional<PreparedRound>& kept, double* seconds);
  Judgement stand_in(const PreparedRound& prepared);
  Runner* awake_between(bool of_baseline) const;
  bool all_late(const std::vector<double>& single_call_s) const;
  int rounds_to_come() const;
  Judgement await_exclusive();
  Judgement expect_undisturbed();
  Judgement time_submission();
  Judgement end_submission();

  const Measurement m_;
  ProcessRounds rounds_;
  BaselineBetween between_;
  const bool
      freezes_;  ///< the submission is frozen between its rounds, with the baseline timed there
};

}  // namespace hone
