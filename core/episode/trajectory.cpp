// Converts journal records to trajectories.
#include "episode/trajectory.hpp"

#include <cmath>

#include "episode/episode.hpp"
#include "episode/recording.hpp"

namespace hone {
namespace {

Value copy_of(const Value& map, std::string_view key) {
  const Value* found = map.is_map() ? map.find(key) : nullptr;
  return found != nullptr ? *found : Value();
}

Result<Value> first_messages(const EpisodeRecord& record, const Environment& environment,
                             const Catalog& tasks) {
  HONE_ASSIGN(const Setting setting, setting_of(record, environment, tasks));
  const EpisodeView view{*setting.task, record.backend, *setting.settings, {}, 0};
  return copy_of(environment.first_observation(view), "messages");
}

/// `message`: index of the turn's first message in the conversation.
Value turn_value(const TurnRecord& turn, const Value& action, const Value& reply,
                 std::size_t message) {
  const Value info = copy_of(reply, "info");
  return Value::map({{"turn", turn.turn},
                     {"action", action},
                     {"verdict", copy_of(info, "verdict")},
                     {"reward", copy_of(reply, "reward")},
                     {"reward_valid", copy_of(reply, "reward_valid")},
                     {"return_to_date", copy_of(reply, "return_to_date")},
                     {"components", copy_of(info, "components")},
                     {"feedback", copy_of(copy_of(reply, "observation"), "feedback")},
                     {"terminated", copy_of(reply, "terminated")},
                     {"truncated", copy_of(reply, "truncated")},
                     {"message", message},
                     {"at", turn.at}});
}

/// The reward of the turn in which a call was made; nil if that turn was not finished or not scored.
Value reward_of_turn(const StoredEpisode& stored, std::int64_t turn) {
  for (const TurnRecord& one : stored.turns) {
    if (one.turn == turn && !std::isnan(one.reward)) return one.reward;
  }
  return {};
}

/// `message`: index of the call's first message in the conversation.
Value call_value(const CallRecord& call, const Value& action, const Value& reply,
                 std::size_t message, Value turn_reward) {
  const Value info = copy_of(reply, "info");
  return Value::map({{"turn", call.turn},
                     {"call", call.call},
                     {"tool", call.tool},
                     {"action", action},
                     {"facts", copy_of(info, "facts")},
                     {"verdict", copy_of(info, "verdict")},
                     {"feedback", copy_of(copy_of(reply, "observation"), "feedback")},
                     {"turn_reward", std::move(turn_reward)},
                     {"message", message},
                     {"at", call.at}});
}

/// Adds the messages of a reply to the conversation.
void add_messages(const Value& reply, Value& messages) {
  const Value said = copy_of(copy_of(reply, "observation"), "messages");
  if (!said.is_array()) return;
  for (const Value& message : said.as_array()) messages.push(message);
}

}  // namespace

Result<const Environment*> environment_of(const StoredEpisode& stored,
                                          const Environments& environments) {
  const EpisodeRecord& r = stored.record;
  if (const Environment* found = find_environment(environments, r.environment)) return found;
  return failed_precondition(
      "episode " + episode_name(r.id) + ": its environment '" + r.environment +
      "' is not known; name its plugin with --set plugins.paths=[FILE] or -c FILE");
}

Result<Setting> setting_of(const EpisodeRecord& record, const Environment& environment,
                           const Catalog& tasks) {
  Setting setting;
  HONE_ASSIGN(setting.task, recorded_task(record, tasks));
  HONE_ASSIGN(const Value options, recorded_value(record.options));
  Fields f(options, "options");
  static_cast<void>(f.text_or("backend", "", 256));
  static_cast<void>(f.text_or("reward", "", 4096));
  static_cast<void>(f.map_or_null("reward_config"));
  setting.settings = environment.read_options(f, *setting.task, record.backend);
  HONE_TRY(f.finish());
  return setting;
}

namespace {

/// `prompt`: the first messages; nil: they are lost.
Result<Value> trajectory_after(Value prompt, const StoredEpisode& stored) {
  const EpisodeRecord& r = stored.record;
  const bool prompt_lost = !prompt.is_array();
  Value messages = prompt_lost ? Value::array() : std::move(prompt);
  Value turns = Value::array(), calls = Value::array(), returns;
  std::size_t call = 0;
  const auto add_calls_until = [&](std::int64_t turn) -> Status {
    for (; call < stored.calls.size() && stored.calls[call].turn <= turn; ++call) {
      const CallRecord& record = stored.calls[call];
      HONE_ASSIGN(const Value reply, recorded_value(*record.reply));
      HONE_ASSIGN(const Value action, recorded_value(*record.action));
      calls.push(call_value(record, action, reply, messages.as_array().size(),
                            reward_of_turn(stored, record.turn)));
      add_messages(reply, messages);
    }
    return {};
  };
  for (const TurnRecord& turn : stored.turns) {
    HONE_TRY(add_calls_until(turn.turn));
    HONE_ASSIGN(const Value reply, recorded_value(*turn.reply));
    HONE_ASSIGN(const Value action, recorded_value(*turn.action));
    turns.push(turn_value(turn, action, reply, messages.as_array().size()));
    add_messages(reply, messages);
    returns = copy_of(reply, "returns");
  }
  HONE_TRY(add_calls_until(INT64_MAX));
  HONE_ASSIGN(Value reward_config, recorded_value(r.reward_config));
  return Value::map({{"episode", episode_name(r.id)},
                     {"environment", r.environment},
                     {"task", r.task},
                     {"backend", r.backend},
                     {"client", r.client},
                     {"group", r.group.empty() ? Value() : Value(r.group)},
                     {"seed", static_cast<std::int64_t>(r.seed)},
                     {"state", std::string(record_state_name(stored.state))},
                     {"opened_at", r.opened_at},
                     {"reward", Value::map({{"name", r.reward},
                                            {"version", r.reward_version},
                                            {"config", std::move(reward_config)},
                                            {"config_hash", r.reward_hash}})},
                     {"parent", r.parent != 0 ? Value(episode_name(r.parent)) : Value()},
                     {"parent_turn", r.parent_turn},
                     {"prompt_lost", prompt_lost},
                     {"messages", std::move(messages)},
                     {"turns", std::move(turns)},
                     {"calls", std::move(calls)},
                     {"returns", std::move(returns)}});
}

}  // namespace

Result<Value> trajectory_of(const StoredEpisode& stored, const Environment& environment,
                            const Catalog* tasks) {
  if (tasks == nullptr) return trajectory_without_prompt(stored);
  auto first = first_messages(stored.record, environment, *tasks);
  return trajectory_after(first ? std::move(*first) : Value(), stored);
}

Result<Value> trajectory_without_prompt(const StoredEpisode& stored) {
  return trajectory_after(Value(), stored);
}

Result<Value> reward_input_of(const StoredEpisode& stored, const Environment& environment,
                              const Catalog& tasks) {
  HONE_ASSIGN(const Setting setting, setting_of(stored.record, environment, tasks));
  std::vector<CallFacts> calls;
  for (const CallRecord& call : stored.calls) calls.push_back({call.turn, call.call, call.tool});
  Value turns = Value::array();
  bool ended = stored.state != RecordState::kOpen;
  for (const TurnRecord& turn : stored.turns) {
    HONE_ASSIGN(const Value reply, recorded_value(*turn.reply));
    const Value verdict = turn.scored ? copy_of(copy_of(reply, "info"), "verdict") : Value();
    turns.push(turn_for_reward(turn.turn, turn.scored, verdict, calls));
    ended = ended || turn.ended;
  }
  return Value::map({{"task", task_for_client(*setting.task, stored.record.backend)},
                     {"ended", ended},
                     {"max_turns", environment.turns_max(*setting.settings)},
                     {"turns", std::move(turns)}});
}

}  // namespace hone
