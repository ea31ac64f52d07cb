// RoundSequence: secrets and families of the rounds of a measurement, in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/session_input.hpp"

namespace hone {

/// What the inputs of one pair are made from.
struct NextPair {
  std::uint64_t secret;
  std::uint64_t warm_secret;          ///< of the inputs of the warm-up before a single-call round
  std::vector<std::size_t> families;  ///< of each call
};

/// Equal for equal sessions. A copy tells the next rounds without advancing the original. One thread.
class RoundSequence {
 public:
  /// `calls`: of a long round.
  RoundSequence(const SessionInput& input, std::size_t calls) : input_(&input), calls_(calls) {}

  /// `single`: of rounds of one call.
  NextPair next(bool single);
  std::size_t pairs() const { return pairs_; }  ///< taken so far

 private:
  const SessionInput* input_;
  std::size_t calls_;
  std::size_t pairs_ = 0, long_calls_ = 0, single_calls_ = 0;
};

}  // namespace hone
