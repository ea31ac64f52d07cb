// What the journal is told of episodes, steps and turns.
#pragma once

#include <optional>
#include <string>

#include "episode/replies.hpp"
#include "episode/table.hpp"
#include "journal/records.hpp"

namespace hone {

/// `request`: the body of its reset.
EpisodeRecord record_of(const Episode& episode, const Value& request, const std::string& reward,
                        const Value& reward_config,
                        const std::optional<EpisodeTable::ResetKey>& key);
IntentRecord intent_of(const Episode& episode, const Flight& flight);
TurnRecord record_of(const Episode& episode, const Flight& flight, const CompletedTurn& done);
/// Whether the task is what it was when the hash was taken.
Sha256 task_hash(const Task& task);
/// Seconds since 1970.
double wall_s();

}  // namespace hone
