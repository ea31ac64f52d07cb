// The bodies of replies, made from what is stored: nothing in here takes a lock or keeps anything.
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
  std::uint64_t fingerprint = 0;             ///< of a measured verdict; 0: none
  std::shared_ptr<const std::string> words;  ///< the compiler's; or null
};

/// Scores the flight's turn, asks the environment what follows, and forms the reply. A reward that
/// fails is a fault of ours: the turn is then unscored. `result` comes without a reward.
CompletedTurn complete_turn(const Episode& episode, const Flight& flight, TurnResult result,
                            double now_s);

/// The same bytes each time, whatever became of the episode since.
std::string reset_reply(const Episode& episode, double lease_s, const std::string& fingerprint);

/// A reset's "info".
Value reset_info(const Episode& episode, const std::string& fingerprint);

/// The whole conversation so far, with the facts of the last turn.
Value resume_reply(const EpisodeTable::Snapshot& snapshot, double lease_s, double now_s);

/// Turns and returns, the episode counted as ended.
Result<Value> close_reply(const EpisodeTable::Snapshot& snapshot);

}  // namespace hone
