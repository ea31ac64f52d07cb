// PreparedRound: a trial or a timed round with its inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/checking/trials.hpp"
#include "judge/input_set.hpp"
#include "judge/layout.hpp"
#include "judge/session_input.hpp"

namespace hone {

/// A trial with its inputs, before or after its round.
struct PreparedRound {
  Trial trial;
  std::uint64_t secret;
  Layout layout;
  InputSet set;
  std::uint64_t scratch_at;  ///< in the submission's arena
  std::string seen = {};     ///< bytes of its outputs, after its own round or before any
  bool answered = false;     ///< the reference's answers are there
};

/// What a timed round is prepared from.
struct TimedOrder {
  std::uint64_t secret;               ///< of its inputs
  std::vector<std::size_t> families;  ///< of each call
  std::uint64_t at = 0;               ///< where its inputs begin in the reference's arena
};

/// Prepares timed rounds. Each side hides the inputs in its own arena by a secret of its own.
Result<std::vector<PreparedRound>> prepare_all_timed(const SessionInput& input,
                                                     std::vector<TimedOrder> orders);
/// Prepares one.
Result<PreparedRound> prepare_timed(const SessionInput& input, TimedOrder order);

}  // namespace hone
