// Compares the recorded return of each episode with the new one.
#include "offline/rescore_episodes.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/host.hpp"
#include "base/log.hpp"
#include "episode/episode.hpp"
#include "episode/recording.hpp"
#include "episode/trajectory.hpp"
#include "offline/journal_lookup.hpp"
#include "offline/prompt_parts.hpp"

namespace hone {
namespace {

Result<RewardReport> rescored(const StoredEpisode& stored, const PromptParts& parts,
                              const Reward& reward) {
  HONE_ASSIGN(const Environment* environment, environment_of(stored, parts.environments));
  HONE_ASSIGN(const Value input, reward_input_of(stored, *environment, *parts.catalog));
  return reward.score(input);
}

Value return_then(const StoredEpisode& stored) {
  const auto reply = recorded_value(*stored.turns.back().reply);
  const Value* found = reply ? reply->find("return_to_date") : nullptr;
  return found != nullptr ? *found : Value();
}

Value rescored_line(const StoredEpisode& stored, const Result<RewardReport>& score) {
  Value rewards = Value::array();
  if (score) {
    for (const auto& turn : score->turns) rewards.push(turn ? Value(turn->reward) : Value());
  }
  return Value::map({{"episode", episode_name(stored.record.id)},
                     {"task", stored.record.task},
                     {"turns", stored.turns.size()},
                     {"then", Value::map({{"reward", stored.record.reward},
                                          {"version", stored.record.reward_version},
                                          {"config_hash", stored.record.reward_hash},
                                          {"return_to_date", return_then(stored)}})},
                     {"rewards", std::move(rewards)},
                     {"return_to_date", score ? Value(score->return_to_date) : Value()},
                     {"error", score ? Value() : Value(score.error().message)}});
}

Row rescored_row(const StoredEpisode& stored, const Result<RewardReport>& score,
                 const std::string& reward) {
  const Value before = return_then(stored);
  return {{episode_name(stored.record.id), Colour::kBold},
          {stored.record.task},
          {std::to_string(stored.turns.size()), Colour::kPlain, true},
          {stored.record.reward},
          {before.is_number() ? short_number(before.as_double()) : "", Colour::kPlain, true},
          {reward},
          {score ? short_number(score->return_to_date) : score.error().message,
           score ? Colour::kPlain : Colour::kRed, score.ok()}};
}

}  // namespace

int rescore_episodes(Terminal& terminal, const Config& config, const EpisodeFilter& filter,
                     bool json) {
  const auto reader = JournalReader::open(config.journal.path);
  if (!reader) return terminal.fail(reader.error(), how_to_write_a_journal(config.journal.path));
  const auto parts = PromptParts::open(config);
  if (!parts) return terminal.fail(parts.error());
  const auto reward = open_reward(config, *parts->registry);
  if (!reward) return terminal.fail(reward.error(), "list all rewards: hone plugins");
  Value listed = Value::array();
  std::vector<Row> rows;
  std::size_t count = 0, failed = 0;
  const Status done = (*reader)->each(filter, [&](const StoredEpisode& stored) -> Status {
    ++count;
    if (stored.turns.empty()) return {};
    const auto score = rescored(stored, *parts, **reward);
    failed += score ? 0u : 1u;
    listed.push(rescored_line(stored, score));
    rows.push_back(rescored_row(stored, score, (*reward)->name()));
    return {};
  });
  if (!done) return terminal.fail(done.error());
  if (count == 0) {
    if (const Status known = explain_no_match(**reader, filter); !known)
      return terminal.fail(known.error());
  }
  if (json) {
    terminal.json(listed, 2);
  } else {
    terminal.table(
        {"episode", "task", "turns", "reward then", "return then", "reward now", "return now"},
        rows);
  }
  if (failed == 0) return kExitOk;
  log_warning("rescore", std::to_string(failed) + " of " + std::to_string(rows.size()) +
                             " episodes have no score, because the reward failed");
  return kExitNo;
}

}  // namespace hone
