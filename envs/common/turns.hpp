// TurnRules: limits of an episode, its stop rules, and the members about turns that every observation has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "episode/environment.hpp"

namespace hone {

/// Options of a reset that all environments have.
struct TurnRules {
  std::int64_t max_turns = 4;
  std::optional<double>
      stop_speedup{};  ///< a correct submission at least this fast ends the episode
  std::optional<double> stop_reward{};  ///< a turn with at least this reward ends the episode
  std::optional<double>
      seconds_max{};  ///< wall time from reset; the turn in flight when it runs out is the last
};

/// Reads a reset's options over the defaults; nil switches a rule off. Mistakes are recorded in the reader.
TurnRules read_turn_rules(Fields& f, const TurnRules& defaults);

/// Name and default of every option, for describe.
Value describe_turn_rules(const TurnRules& defaults);

/// Whether the episode ends, and why. A pure function of the finished turns, the current turn, and the
/// seconds since reset.
Stop decide_stop(const TurnRules& rules, std::size_t turns_before, double seconds_used,
                 const TurnResult& result);

/// The largest speedup of correct turns; 0 if there is none.
double best_speedup(std::span<const TurnFacts> turns);

/// Adds turn, turns_left, seconds_left, history and best_speedup to an observation: after `result`, or at the
/// start if it is null.
void add_turns(Value& observation, const EpisodeView& view, const TurnRules& rules,
               const TurnResult* result);

/// Reads an observation that add_turns() made.
std::optional<double> seconds_used_of(const TurnRules& rules, const Value& observation);

}  // namespace hone
