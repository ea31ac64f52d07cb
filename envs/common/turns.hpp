// TurnRules: how many turns an episode has, when it ends before, and what every environment says of the turns so far.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "episode/environment.hpp"

namespace hone {

/// Options of a reset that environments share.
struct TurnRules {
  std::int64_t max_turns = 4;
  std::optional<double>
      stop_speedup{};  ///< a correct submission at least this fast ends the episode
  std::optional<double> stop_reward{};  ///< a turn with at least this reward ends the episode
  std::optional<double>
      seconds_max{};  ///< wall time from reset; the turn under way when it runs out is the last
};

/// Reads a reset's options over the defaults; nil switches a rule off. Mistakes stay in the reader.
TurnRules read_turn_rules(Fields& f, const TurnRules& defaults);

/// Name and default of every option, for describe.
Value describe_turn_rules(const TurnRules& defaults);

/// Whether the episode ends, and why. Pure: turns done before, the turn that was just taken,
/// seconds since reset.
Stop decide_stop(const TurnRules& rules, std::size_t turns_before, double seconds_used,
                 const TurnResult& result);

/// Of the correct ones; 0 where none was.
double best_speedup(std::span<const TurnFacts> turns);

/// Adds turn, turns_left, seconds_left, history and best_speedup to an observation, as they stand
/// after `result`; without one, at the start.
void add_turns(Value& observation, const EpisodeView& view, const TurnRules& rules,
               const TurnResult* result);

/// Of an observation that add_turns() made.
std::optional<double> seconds_used_of(const TurnRules& rules, const Value& observation);

}  // namespace hone
