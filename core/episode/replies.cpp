// Scores turns with the reward plugin, and builds the replies of docs/protocol.md.
#include "episode/replies.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "episode/recording.hpp"

namespace hone {
namespace {

Value number_or_nil(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

/// Decodes a stored reply.
Value decode(const std::string& reply) {
  Result<Value> value = recorded_value(reply);
  HONE_ASSERT(value.ok() && value->is_map());
  return std::move(value).value();
}

/// A member of a stored reply. Every reply has this member.
const Value& member(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  HONE_ASSERT(found != nullptr);
  return *found;
}

/// The stored turns, in the form that the reward expects.
Value turns_for_reward(std::span<const TurnFacts> facts, std::span<const StoredTurn> turns,
                       std::span<const CallFacts> calls) {
  Value list = Value::array();
  for (std::size_t i = 0; i < turns.size(); ++i) {
    Value verdict;
    if (facts[i].scored) verdict = member(member(decode(*turns[i].reply), "info"), "verdict");
    const auto number = static_cast<std::int64_t>(i) + 1;
    list.push(turn_for_reward(number, facts[i].scored, std::move(verdict), calls));
  }
  return list;
}

Result<RewardReport> score(const Episode& episode, Value turns, bool ended) {
  return episode.reward->score(
      Value::map({{"task", task_for_client(*episode.task, episode.backend)},
                  {"ended", ended},
                  {"max_turns", episode.environment->turns_max(*episode.settings)},
                  {"turns", std::move(turns)}}));
}

/// Compiler output of a verdict; null: none.
std::shared_ptr<const std::string> compiler_words(const Verdict& verdict) {
  if (verdict.diagnostics.empty()) return nullptr;
  return std::make_shared<const std::string>(verdict.diagnostics);
}

std::uint64_t fingerprint_of(const Verdict& verdict) {
  if (!verdict.speedup || verdict.fingerprint.empty()) return 0;
  const Sha256 digest = sha256(verdict.fingerprint);
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number == 0 ? 1 : number;
}

struct Scored {
  RewardReport report;
  Stop stop;
  bool any = false;  ///< at least one turn was scored, so the episode has a return
};

/// The end of an episode may depend on the reward, and the reward may depend on the end. So the environment decides before and after scoring, and if the decision changed, the turn is scored again.
Result<Scored> score_and_stop(const Episode& episode, const EpisodeView& view, TurnResult& result) {
  Value turns = turns_for_reward(episode.facts, episode.turns, episode.call_facts);
  turns.push(turn_for_reward(
      static_cast<std::int64_t>(episode.turns.size()) + 1, result.verdict.has_value(),
      result.verdict ? verdict_to_value(*result.verdict) : Value(), episode.call_facts));
  Scored scored;
  scored.stop = episode.environment->stop(view, result);
  HONE_ASSIGN(scored.report, score(episode, turns, scored.stop.ended()));
  if (result.verdict) {
    result.reward = scored.report.turns.back()->reward;
    const Stop stop = episode.environment->stop(view, result);
    if (stop.ended() != scored.stop.ended()) {
      HONE_ASSIGN(scored.report, score(episode, std::move(turns), stop.ended()));
      result.reward = scored.report.turns.back()->reward;
    }
    scored.stop = stop;
  }
  for (const std::optional<TurnReward>& turn : scored.report.turns) scored.any |= turn.has_value();
  return scored;
}

Value returns_value(const RewardReport& report) {
  Value returns = Value::array();
  for (const std::optional<double>& one : report.returns) returns.push(number_or_nil(one));
  return returns;
}

Value components_value(const std::optional<TurnReward>& turn) {
  Value components = Value::map();
  if (turn) {
    for (const auto& [name, part] : turn->components) components.set(name, part);
  }
  return components;
}

/// The components of a turn whose reward failed.
Scored unscored(const Episode& episode, const EpisodeView& view, TurnResult& result, Error error) {
  log_error("episode " + episode.name(), error.message);
  if (result.fault.empty()) result.fault = std::move(error.message);
  result.verdict.reset();
  result.reward.reset();
  Scored scored;
  scored.stop = episode.environment->stop(view, result);
  scored.report.turns.resize(episode.turns.size() + 1);
  scored.report.returns.resize(episode.turns.size() + 1);
  return scored;
}

/// Speedups of different hardware, drivers or toolchains are never mixed within an episode.
void refuse_other_fingerprint(const Episode& episode, TurnResult& result) {
  if (!result.verdict) return;
  const std::uint64_t found = fingerprint_of(*result.verdict);
  if (found == 0 || episode.fingerprint == 0 || found == episode.fingerprint) return;
  result.fault =
      "the measuring hardware changed within the episode; it is now " + result.verdict->fingerprint;
  result.verdict.reset();
}

}  // namespace

CompletedTurn complete_turn(const Episode& episode, const Flight& flight, TurnResult result,
                            double now_s) {
  refuse_other_fingerprint(episode, result);
  const EpisodeView view = episode.view(now_s);
  Result<Scored> attempt = score_and_stop(episode, view, result);
  const Scored scored =
      attempt ? std::move(*attempt) : unscored(episode, view, result, attempt.error());
  const bool valid = result.verdict.has_value();
  Value reply = Value::map(
      {{"episode", episode.name()},
       {"turn", flight.turn},
       {"observation", episode.environment->observe(view, flight.action, result)},
       {"reward", number_or_nil(result.reward)},
       {"reward_valid", valid},
       {"return_to_date", scored.any ? Value(scored.report.return_to_date) : Value()},
       {"terminated", scored.stop.terminated},
       {"truncated", scored.stop.truncated},
       {"returns", scored.stop.ended() ? returns_value(scored.report) : Value()},
       {"info",
        Value::map({{"verdict", valid ? verdict_to_value(*result.verdict) : Value()},
                    {"components", components_value(scored.report.turns.back())},
                    {"stop_reason", scored.stop.ended() ? Value(scored.stop.reason) : Value()},
                    {"fault", result.fault.empty() ? Value() : Value(result.fault)}})}});
  auto bytes = std::make_shared<std::string>(to_msgpack(reply));
  bytes->shrink_to_fit();
  std::shared_ptr<const std::string> words;
  if (valid) words = compiler_words(*result.verdict);
  return {facts_of(result),    std::move(bytes),
          scored.stop.ended(), valid ? fingerprint_of(*result.verdict) : 0,
          std::move(words),    valid ? stage_ms_to_value(*result.verdict) : Value(),
          result.fault};
}

CompletedCall complete_call(const Episode& episode, const Flight& flight, Tool tool,
                            const Examination& found, double now_s) {
  const EpisodeView view = episode.view(now_s);
  const std::string name(enum_name(tool));
  const Value reply = Value::map(
      {{"episode", episode.name()},
       {"turn", flight.turn},
       {"call", flight.call},
       {"tool", name},
       {"observation", episode.environment->observe_call(view, flight.action, tool, found)},
       {"info",
        Value::map({{"facts", found.facts},
                    {"verdict", found.verdict ? verdict_to_value(*found.verdict) : Value()}})}});
  return {{flight.turn, flight.call, name},
          std::make_shared<const std::string>(to_msgpack(reply)),
          found.verdict ? compiler_words(*found.verdict) : nullptr};
}

Value reset_info(const Episode& episode, const std::string& fingerprint) {
  return Value::map({{"seed", static_cast<std::int64_t>(episode.seed)},
                     {"task", episode.task->dataset + "/" + episode.task->id},
                     {"group", episode.group.empty() ? Value() : Value(episode.group)},
                     {"fingerprint", fingerprint}});
}

std::string reset_reply(const Episode& episode, double lease_s, const std::string& fingerprint) {
  const EpisodeView view = episode.view({}, {}, episode.started_s);
  return to_msgpack(Value::map({{"episode", episode.name()},
                                {"token", episode.token_text()},
                                {"turn", 0},
                                {"lease_s", lease_s},
                                {"observation", episode.environment->first_observation(view)},
                                {"info", reset_info(episode, fingerprint)}}));
}

Value resume_reply(const EpisodeTable::Snapshot& snapshot, double lease_s, double now_s) {
  const Episode& episode = *snapshot.episode;
  const EpisodeView view = episode.view({}, {}, now_s);
  Value observation = episode.environment->first_observation(view);
  Value messages = member(observation, "messages");
  const auto add = [&](const std::string& stored) {
    const Value reply = decode(stored);
    const Value& seen = member(reply, "observation");
    for (const Value& message : member(seen, "messages").as_array()) messages.push(message);
    for (const auto& [key, said] : seen.as_map()) {
      if (key != "task" && key != "messages" && key != "seconds_left") observation.set(key, said);
    }
  };
  std::size_t call = 0;
  const auto add_calls_until = [&](std::int64_t turn) {
    for (; call < snapshot.calls.size() && snapshot.call_facts[call].turn <= turn; ++call)
      add(*snapshot.calls[call].reply);
  };
  for (std::size_t i = 0; i < snapshot.turns.size(); ++i) {
    add_calls_until(static_cast<std::int64_t>(i) + 1);
    add(*snapshot.turns[i].reply);
  }
  const std::int64_t open_turn = static_cast<std::int64_t>(snapshot.turns.size()) + 1;
  add_calls_until(open_turn);
  observation.set("messages", std::move(messages));
  return Value::map({{"episode", episode.name()},
                     {"turn", snapshot.turns.size()},
                     {"calls", calls_in_turn(snapshot.call_facts, open_turn)},
                     {"pending", snapshot.pending},
                     {"ended", snapshot.ended},
                     {"observation", std::move(observation)},
                     {"lease_s", lease_s}});
}

Result<Value> close_reply(const EpisodeTable::Snapshot& snapshot) {
  const Episode& episode = *snapshot.episode;
  Value returns = Value::array();
  Value to_date;
  if (snapshot.ended) {
    const Value last = decode(*snapshot.turns.back().reply);
    returns = member(last, "returns");
    to_date = member(last, "return_to_date");
  } else if (!snapshot.turns.empty()) {
    HONE_ASSIGN(const RewardReport report,
                score(episode,
                      turns_for_reward(snapshot.facts, snapshot.turns, snapshot.call_facts), true));
    returns = returns_value(report);
    for (const std::optional<double>& one : report.returns) {
      if (one) to_date = report.return_to_date;
    }
  }
  return Value::map({{"episode", episode.name()},
                     {"turns", snapshot.turns.size()},
                     {"returns", std::move(returns)},
                     {"return_to_date", std::move(to_date)}});
}

}  // namespace hone
