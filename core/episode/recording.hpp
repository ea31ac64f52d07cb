// Makes the journal's records of episodes, steps and turns.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "episode/catalog.hpp"
#include "episode/replies.hpp"
#include "episode/table.hpp"
#include "journal/records.hpp"

namespace hone {

/// `request`: the body of the reset.
EpisodeRecord record_of(const Episode& episode, const Value& request, const std::string& reward,
                        const Value& reward_config,
                        const std::optional<EpisodeTable::ResetKey>& key);
IntentRecord intent_of(const Episode& episode, const Flight& flight);
TurnRecord record_of(const Episode& episode, const Flight& flight, const CompletedTurn& done);
CallRecord record_of(const Episode& episode, const Flight& flight, const CompletedCall& done);
/// The facts of a recorded turn that stay in memory.
TurnFacts facts_of(const TurnRecord& turn);
/// A turn as the reward gets it, with the tools that were used before its submission.
Value turn_for_reward(std::int64_t number, bool scored, Value verdict,
                      std::span<const CallFacts> calls);
/// A hash of all members of a task except `flops`, which only profiles use. Detects that the task has changed since.
Sha256 task_hash(const Task& task);
/// The task of a recorded episode; failed_precondition if the task has changed since.
Result<std::shared_ptr<const Task>> recorded_task(const EpisodeRecord& record,
                                                  const Catalog& tasks);
/// Seconds from reset to the end of the last turn, without the time in which no server ran.
double seconds_used(const Episode& episode);
/// Decodes a recorded action or reply. hone has written these bytes, so they may be larger than an untrusted
/// message.
Result<Value> recorded_value(std::string_view bytes);

}  // namespace hone
