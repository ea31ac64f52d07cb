// Evaluates the turns of all episodes at once.
#include "offline/replay_episodes.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/parts.hpp"
#include "episode/episode.hpp"
#include "episode/replay.hpp"
#include "episode/trajectory.hpp"

namespace hone {
namespace {

/// One episode with its turns.
struct Replayed {
  StoredEpisode stored;
  const Environment* environment = nullptr;
  std::vector<ReplayTurn> turns;
};

Value number_or_nil(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

std::string speedup_text(const Verdict* verdict) {
  return verdict != nullptr && verdict->speedup ? short_number(verdict->speedup->value) + "×" : "";
}

const Verdict* verdict_then(const ReplayTurn& turn) {
  return turn.then && turn.then->known ? &*turn.then->known : nullptr;
}
const Verdict* verdict_now(const ReplayTurn& turn) { return turn.now ? &*turn.now : nullptr; }

void evaluate_replay(Terminal& terminal, Host& host, std::vector<Replayed>& episodes) {
  std::vector<Submission> submissions;
  std::vector<ReplayTurn*> waiting;
  for (Replayed& episode : episodes) {
    for (ReplayTurn& turn : episode.turns) {
      if (!turn.submission) continue;
      submissions.push_back(*turn.submission);
      waiting.push_back(&turn);
    }
  }
  Progress progress(terminal, "", submissions.size());
  auto results = evaluate_all(progress, host.evaluator(), submissions);
  for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->now = std::move(results[i]);
}

Result<std::unique_ptr<Reward>> reward_of(const EpisodeRecord& record, const Registry& registry) {
  HONE_ASSIGN(const Value config, from_msgpack(record.reward_config));
  return registry.open_reward(record.reward, config);
}

Value replay_line(const ReplayTurn& turn) {
  return Value::map(
      {{"turn", turn.turn},
       {"then", Value::map({{"verdict", turn.then ? turn.then->value : Value()},
                            {"reward", number_or_nil(turn.reward_then)}})},
       {"now", Value::map({{"verdict", turn.now ? verdict_to_value(*turn.now) : Value()},
                           {"reward", number_or_nil(turn.reward_now)}})},
       {"differences", texts_value(turn.differences)}});
}

Row replay_row(const std::string& name, const ReplayTurn& turn) {
  const auto reward = [](const std::optional<double>& number) {
    return number ? short_number(*number) : std::string();
  };
  const std::string now = turn.now ? std::string(outcome_name(turn.now->outcome)) : "not judged";
  const bool same = turn.differences.empty();
  return {{name, Colour::kBold},
          {std::to_string(turn.turn), Colour::kPlain, true},
          {turn.then ? turn.then->outcome : "not scored"},
          {speedup_text(verdict_then(turn)), Colour::kPlain, true},
          {reward(turn.reward_then), Colour::kPlain, true},
          {now, same ? Colour::kPlain : Colour::kYellow},
          {speedup_text(verdict_now(turn)), Colour::kPlain, true},
          {reward(turn.reward_now), Colour::kPlain, true},
          {same ? "same" : "differs", same ? Colour::kGreen : Colour::kYellow}};
}

int report_replay(Terminal& terminal, const std::vector<Replayed>& episodes, bool json) {
  bool same = true, judged = true;
  Value listed = Value::array();
  std::vector<Row> rows;
  std::vector<std::string> differences, skipped;
  for (const Replayed& episode : episodes) {
    const std::string name = episode_name(episode.stored.record.id);
    Value turns = Value::array();
    for (const ReplayTurn& turn : episode.turns) {
      same = same && turn.differences.empty();
      judged = judged && turn.now.ok();
      turns.push(replay_line(turn));
      rows.push_back(replay_row(name, turn));
      for (const std::string& difference : turn.differences) {
        differences.push_back(name + ", turn " + std::to_string(turn.turn) + ": " + difference);
      }
    }
    const std::size_t calls = episode.stored.calls.size();
    if (calls > 0)
      skipped.push_back(name + ": " + std::to_string(calls) +
                        (calls == 1 ? " tool call was" : " tool calls were") + " not repeated");
    listed.push(Value::map({{"episode", name},
                            {"task", episode.stored.record.task},
                            {"turns", std::move(turns)},
                            {"calls_not_repeated", calls}}));
  }
  if (json) {
    terminal.json(listed, 2);
  } else {
    terminal.table({"episode", "turn", "then", "speedup then", "reward then", "now", "speedup now",
                    "reward now", ""},
                   rows);
    for (const std::string& difference : differences) terminal.line(difference);
    for (const std::string& calls : skipped) terminal.line(calls);
    if (same) terminal.line("nothing differs");
  }
  if (!judged) return kExitFault;
  return same ? kExitOk : kExitNo;
}

}  // namespace

int replay_episodes(Terminal& terminal, LoadedConfig loaded, std::vector<StoredEpisode> recorded,
                    bool json) {
  loaded.config.journal.path.clear();  // it was read
  std::vector<Replayed> episodes;
  for (StoredEpisode& stored : recorded) episodes.push_back({std::move(stored), nullptr, {}});
  auto host = Host::start(loaded, show_steps(terminal));
  if (!host) return terminal.fail(host.error(), next_step(host.error()));
  const auto environments = open_environments(loaded.config, (*host)->registry());
  if (!environments) return terminal.fail(environments.error());
  for (Replayed& episode : episodes) {
    const auto environment = environment_of(episode.stored, *environments);
    if (!environment) return terminal.fail(environment.error());
    episode.environment = *environment;
  }
  for (Replayed& episode : episodes) {
    auto turns = plan_replay(episode.stored, *episode.environment, (*host)->catalog());
    if (!turns) {
      return terminal.fail(
          turns.error().in("episode " + episode_name(episode.stored.record.id)),
          "the task has changed since the recording, so the results cannot be compared");
    }
    episode.turns = std::move(*turns);
  }
  evaluate_replay(terminal, **host, episodes);
  for (Replayed& episode : episodes) {
    compare_replay(episode.stored, *episode.environment, (*host)->catalog(),
                   reward_of(episode.stored.record, (*host)->registry()), episode.turns);
  }
  return report_replay(terminal, episodes, json);
}

}  // namespace hone
