// RoundSupply: inputs of timed rounds, and the check of their outputs.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/checking/prepared_round.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

class RoundSupply {
 public:
  virtual ~RoundSupply() = default;
  /// A round with one call for each of `families`. `at`: where its inputs begin in the reference's arena.
  virtual Result<PreparedRound> prepare(std::uint64_t secret, std::vector<std::size_t> families,
                                        std::uint64_t at) = 0;
  /// Checks the submission's round that was just timed, now or later.
  virtual Judgement check(PreparedRound timed) = 0;
  /// The time that was spent, before the pairs, on the inputs of the last prepared round of a pair (s); 0: none.
  virtual double ahead_seconds() const { return 0; }
};

/// The outcome `cheated` if outputs have changed since the clock stopped. `outputs`: the submission's arena, or a copy of it.
Judgement expect_settled(Runner& submission, const Arena& outputs);

}  // namespace hone
