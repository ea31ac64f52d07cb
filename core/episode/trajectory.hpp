// Recorded episodes as training data, and as a reward's input again.
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
/// "message" is the place among "messages" of the turn's first one, its submission.
/// Times are seconds since 1970; "messages" is the whole conversation, without its first prompt when
/// the task is no longer what it was ("prompt_lost": true). `tasks` may be nullptr: the same.
/// An error: the record holds what hone did not write.
Result<Value> trajectory_of(const StoredEpisode& stored, const Environment& environment,
                            const Catalog* tasks);

/// The one that an episode was played in; failed_precondition where it is not among these.
Result<const Environment*> environment_of(const StoredEpisode& stored,
                                          const Environments& environments);

/// What the environment made of a recorded reset.
struct Setting {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Settings> settings;
};
/// failed_precondition where the task is no longer what it was.
Result<Setting> setting_of(const EpisodeRecord& record, const Environment& environment,
                           const Catalog& tasks);

/// What a reward is asked about: {"task", "ended", "max_turns", "turns"}; failed_precondition where
/// the task is no longer what it was.
Result<Value> reward_input_of(const StoredEpisode& stored, const Environment& environment,
                              const Catalog& tasks);

}  // namespace hone
