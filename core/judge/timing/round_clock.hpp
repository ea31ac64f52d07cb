// RoundClock: one round of one side under the clock, and what may come before it.
#pragma once

#include <cstdint>

#include "judge/blame.hpp"
#include "judge/call_limit.hpp"
#include "judge/checking/prepared_round.hpp"
#include "judge/session_input.hpp"
#include "judge/timing/contention.hpp"
#include "judge/timing/timings.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

/// One side of a measurement, in one round.
struct Side {
  Runner& runner;
  Culprit culprit;       ///< kSubmission or kBaseline
  std::uint64_t secret;  ///< hides the inputs in this side's arena
  CallLimit limit;

  bool is_baseline() const { return culprit == Culprit::kBaseline; }
};

/// Runs rounds of both sides. Records empty rounds of the baseline in the timings. One thread.
class RoundClock {
 public:
  RoundClock(const SessionInput& input, Contention& contention, Timings& timings)
      : input_(input), contention_(contention), timings_(timings) {}

  Side baseline(std::uint64_t secret, std::size_t calls) const;
  Side submission(std::uint64_t secret, std::size_t calls) const;

  /// Puts the inputs into the side's arena, poisons its outputs, and gives it its orders.
  Judgement load(const Side& side, const PreparedRound& prepared) const;
  /// Evicts both arenas from the caches, unless the task asks for warm ones.
  Status make_cold(const Layout& layout) const;
  /// A round without calls. Its time depends on where the outputs lie, and on the machine's other load.
  Judgement empty_round(const Side& side);
  /// A call with these inputs before a single-call round, not timed.
  Judgement warm_up(const Side& side, const PreparedRound& prepared) const;
  /// The round. The side must be loaded.
  Judgement run(const Side& side, const PreparedRound& prepared, double* seconds);

 private:
  const SessionInput& input_;
  Contention& contention_;
  Timings& timings_;
};

/// Times a round of either side. The implementations differ in what comes before the clock starts.
class RoundTimer {
 public:
  virtual ~RoundTimer() = default;
  /// Comes before all else of the baseline's round in a pair, while the submission is frozen.
  virtual Judgement before_baseline(const Side&) { return correct_so_far(); }
  virtual Judgement time(const Side& side, const PreparedRound& prepared, double* seconds) = 0;
};

}  // namespace hone
