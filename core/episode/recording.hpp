// Records of episodes, steps and turns for the journal.
#pragma once

#include <optional>
#include <string>

#include "episode/catalog.hpp"
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
/// What stays in memory of a recorded turn.
TurnFacts facts_of(const TurnRecord& turn);
/// Whether the task is what it was when the hash was taken.
Sha256 task_hash(const Task& task);
/// The task that the episode is about; failed_precondition where it is no longer what it was.
Result<std::shared_ptr<const Task>> recorded_task(const EpisodeRecord& record,
                                                  const Catalog& tasks);
/// An episode's time until its last turn was done; while no server ran, it stood.
double seconds_used(const Episode& episode);
/// An action or a reply as it was recorded: our own bytes, larger than what strangers may send.
Result<Value> recorded_value(std::string_view bytes);

}  // namespace hone
