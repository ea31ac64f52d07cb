// Pairs of rounds: A·B B·A A·B … with fresh secret inputs in every pair, every timed output checked.
//
// Theory of operation. A is the baseline, B the submission, each in its own process with its own arena. Both are frozen
// except in their own round. Before a pair (on a device, before all pairs: ahead_rounds.hpp) the judge prepares new
// inputs; before a round it copies them to its side and poisons the outputs. B stays frozen until its outputs have been
// compared or copied, after both rounds: what runs before a round (the reference above all) changes caches and with
// them the time, by a third where it was measured. So both sides come right after the same work, and in turns. A round
// has as many calls as take some milliseconds, so that the cost of freezing (the floor, measured with empty rounds) is
// small. Single-call rounds must show the same speedup, because a submission that does a round's work in its first call
// would gain otherwise.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "judge/timing/protocol.hpp"
#include "judge/timing/round_sequence.hpp"
#include "judge/timing/round_supply.hpp"

namespace hone {

/// The pairs of one measurement. The timer times single rounds; the supply prepares inputs and checks outputs.
class PairedProtocol : public Protocol {
 public:
  PairedProtocol(const Measurement& measurement, std::unique_ptr<RoundTimer> timer,
                 std::unique_ptr<RoundSupply> supply)
      : m_(measurement),
        timer_(std::move(timer)),
        supply_(std::move(supply)),
        sequence_(measurement.input, measurement.timings.calls) {}

  Judgement measure() override;

 protected:
  const RoundSequence& sequence() const { return sequence_; }

 private:
  struct Times {
    double baseline_s = 0, submission_s = 0;
  };
  bool baseline_first(std::size_t pair) const;
  Judgement time_pair(std::size_t calls, bool baseline_first, Times* times);
  Judgement time_baseline(const Side& side, const PreparedRound& prepared,
                          const std::optional<PreparedRound>& warm, double* seconds);
  Judgement time_round(const Side& side, const PreparedRound& prepared,
                       const std::optional<PreparedRound>& warm, double* seconds);
  Judgement time_long_pairs(int planned);
  Judgement time_single_pair(bool baseline_first);
  Judgement add_single_pairs();
  int planned_pairs(double pair_s) const;
  bool is_cut_short(int done, int planned, double passed_s);

  const Measurement m_;
  const std::unique_ptr<RoundTimer> timer_;
  const std::unique_ptr<RoundSupply> supply_;
  RoundSequence sequence_;
};

std::unique_ptr<Protocol> make_pairs_on_host(const Measurement& measurement);
std::unique_ptr<Protocol> make_pairs_on_device(const Measurement& measurement);

}  // namespace hone
