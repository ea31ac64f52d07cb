// Builds the bodies of replies from stored data. The functions take no lock and keep no state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "episode/episode.hpp"
#include "episode/table.hpp"

namespace hone {

struct CompletedTurn {
  TurnFacts facts;
  std::shared_ptr<const std::string> reply;
  bool ended = false;
  std::uint64_t fingerprint = 0;             ///< of a timed verdict; 0: none
  std::shared_ptr<const std::string> words;  ///< compiler output; may be null
  Value stage_ms;                            ///< of the verdict; nil without one
  std::string fault;                         ///< why the turn is unscored
};

struct CompletedCall {
  CallFacts facts;
  std::shared_ptr<const std::string> reply;
  std::shared_ptr<const std::string> words;  ///< compiler output; may be null
};

/// Builds the reply to a tool call.
CompletedCall complete_call(const Episode& episode, const Flight& flight, Tool tool,
                            const Examination& found, double now_s);

/// Scores the flight's turn, asks the environment whether the episode ends, and builds the reply. If the
/// reward fails, the turn is unscored: that is a fault of hone. `result` has no reward yet.
CompletedTurn complete_turn(const Episode& episode, const Flight& flight, TurnResult result,
                            double now_s);

/// Always the same bytes for an episode, at any time after the reset.
std::string reset_reply(const Episode& episode, double lease_s, const std::string& fingerprint);

/// The "info" member of a reset's reply.
Value reset_info(const Episode& episode, const std::string& fingerprint);

/// The whole conversation so far, with the facts of the last turn.
Value resume_reply(const EpisodeTable::Snapshot& snapshot, double lease_s, double now_s);

/// Turns and returns, computed as if the episode had ended.
Result<Value> close_reply(const EpisodeTable::Snapshot& snapshot);

}  // namespace hone
