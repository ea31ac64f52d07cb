// Recorded episodes as training data, and as the input of a reward.
#pragma once

#include "base/result.hpp"
#include "episode/catalog.hpp"
#include "episode/environment.hpp"
#include "journal/records.hpp"
#include "model/value.hpp"

namespace hone {

/// {"episode", "environment", "task", "backend", "client", "group", "seed", "state", "opened_at",
///  "reward": {"name", "version", "config", "config_hash"}, "parent", "parent_turn",
///  "messages": [{"role", "content"}], "turns": [{"turn", "action", "verdict", "reward",
///  "reward_valid", "return_to_date", "components", "feedback", "terminated", "truncated",
///  "message", "at"}], "returns"}.
/// "message" is the index in "messages" of the turn's submission. Times are seconds since 1970.
/// "messages" is the whole conversation. If the task has changed since, or `tasks` is nullptr, it
/// lacks the first prompt ("prompt_lost": true). An error: hone did not write this record.
Result<Value> trajectory_of(const StoredEpisode& stored, const Environment& environment,
                            const Catalog* tasks);
/// The same without the first prompt, for an environment that is not available.
Result<Value> trajectory_without_prompt(const StoredEpisode& stored);

/// The environment of a recorded episode; failed_precondition if it is not among these.
Result<const Environment*> environment_of(const StoredEpisode& stored,
                                          const Environments& environments);

/// Task and settings of a recorded reset.
struct Setting {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Settings> settings;
};
/// failed_precondition if the task has changed since.
Result<Setting> setting_of(const EpisodeRecord& record, const Environment& environment,
                           const Catalog& tasks);

/// The input of a reward: {"task", "ended", "max_turns", "turns"}; failed_precondition if the task has
/// changed since.
Result<Value> reward_input_of(const StoredEpisode& stored, const Environment& environment,
                              const Catalog& tasks);

}  // namespace hone
