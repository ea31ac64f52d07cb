// Converts between episodes and the journal's records.
#include "episode/recording.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/clock.hpp"
#include "episode/episode_service.hpp"

namespace hone {

Sha256 task_hash(const Task& task) {
  Value value = task_to_value(task);
  // Members that earlier versions lacked. Episodes of these versions stay open.
  std::erase_if(value.as_map(), [](const auto& member) {
    return member.first == "flops" || member.first == "slowdown_max";
  });
  return sha256(to_msgpack(value));
}

Result<std::shared_ptr<const Task>> recorded_task(const EpisodeRecord& record,
                                                  const Catalog& tasks) {
  HONE_ASSIGN(std::shared_ptr<const Task> task, tasks.find_for(record.backend, record.task, true));
  if (task_hash(*task) == record.task_hash) return task;
  return failed_precondition("its task '" + record.task + "' has changed since the episode began");
}

Result<Value> recorded_value(std::string_view bytes) {
  return from_msgpack(bytes, {64, 1u << 20, 1u << 24, 1u << 30});
}

EpisodeRecord record_of(const Episode& episode, const Value& request, const std::string& reward,
                        const Value& reward_config,
                        const std::optional<EpisodeTable::ResetKey>& key) {
  EpisodeRecord r;
  r.id = episode.id;
  r.token = episode.token;
  r.seed = episode.seed;
  r.environment = episode.environment->name();
  r.task = episode.task->dataset + "/" + episode.task->id;
  r.task_hash = task_hash(*episode.task);
  r.backend = episode.backend;
  r.group = episode.group;
  r.client = episode.client;
  const Value* options = request.find("options");
  r.options = to_msgpack(options != nullptr && options->is_map() ? *options : Value::map());
  r.reward = reward;
  r.reward_config = to_msgpack(reward_config);
  r.reward_version = episode.reward->version();
  r.reward_hash = episode.reward->config_hash();
  r.opened_at = wall_s();
  if (key) {
    r.reset_key = key->key;
    r.reset_body = key->body;
  }
  return r;
}

IntentRecord intent_of(const Episode& episode, const Flight& flight) {
  return {episode.id, flight.turn, flight.hash, flight.seed};
}

TurnRecord record_of(const Episode& episode, const Flight& flight, const CompletedTurn& done) {
  TurnRecord r;
  r.episode = episode.id;
  r.turn = flight.turn;
  r.hash = flight.hash;
  r.action = flight.bytes;
  r.seed = flight.seed;
  r.outcome = done.facts.outcome;
  r.scored = done.facts.scored;
  r.speedup = done.facts.speedup;
  r.reward = done.facts.reward;
  r.fingerprint = done.fingerprint;
  r.reply = done.reply;
  r.words = done.words;
  r.ended = done.ended;
  r.at = wall_s();
  return r;
}

CallRecord record_of(const Episode& episode, const Flight& flight, const CompletedCall& done) {
  CallRecord r;
  r.episode = episode.id;
  r.turn = flight.turn;
  r.call = flight.call;
  r.hash = flight.hash;
  r.tool = done.facts.tool;
  r.action = flight.bytes;
  r.reply = done.reply;
  r.words = done.words;
  r.at = wall_s();
  return r;
}

TurnFacts facts_of(const TurnRecord& turn) {
  return {.outcome = turn.outcome,
          .scored = turn.scored,
          .speedup = turn.speedup,
          .reward = turn.reward};
}

Value turn_for_reward(std::int64_t number, bool scored, Value verdict,
                      std::span<const CallFacts> calls) {
  Value turn = Value::map(
      {{"turn", number}, {"scored", scored}, {"verdict", scored ? std::move(verdict) : Value()}});
  std::map<std::string, std::int64_t> uses;
  for (const CallFacts& call : calls) {
    if (call.turn == number) ++uses[call.tool];
  }
  if (uses.empty()) return turn;
  Value tools = Value::map();
  for (const auto& [tool, count] : uses) tools.set(tool, count);
  turn.set("tools", std::move(tools));
  return turn;
}

/// Rationale: the time comes from that turn's reply. The dates in the journal come from a clock that may have
/// been changed since.
double seconds_used(const Episode& episode) {
  if (episode.turns.empty()) return 0;
  const auto reply = recorded_value(*episode.turns.back().reply);
  const Value* observation = reply ? reply->find("observation") : nullptr;
  if (observation == nullptr) return 0;
  return episode.environment->seconds_used(*episode.settings, *observation).value_or(0);
}

Status Episodes::reload(std::uint64_t id) {
  if (state_->journal == nullptr || !state_->table.is_unloaded(id)) return {};
  HONE_ASSIGN(const std::optional<StoredEpisode> stored,
              state_->journal->reader().held_episode(id));
  if (!stored) return {};  // it was closed or reaped meanwhile: the table reports that
  auto episode = restore(*stored);
  if (!episode) {
    Error error = episode.error().in("the episode cannot continue");
    // A reward's process that has just crashed is restarted soon. The client must retry, and must not treat
    // the episode as lost.
    if (error.code == Code::kInternal || error.code == Code::kDeadlineExceeded) {
      error.code = Code::kUnavailable;
    }
    return error;
  }
  std::optional<EpisodeTable::ResetKey> key;
  if (stored->record.reset_key) key = {*stored->record.reset_key, stored->record.reset_body};
  state_->table.reload(*episode, key);
  return {};
}

Result<EpisodeTable::Pinned> Episodes::restore(const StoredEpisode& stored) {
  const EpisodeRecord& r = stored.record;
  auto episode = std::make_shared<Episode>();
  episode->id = r.id;
  episode->token = r.token;
  episode->seed = r.seed;
  episode->backend = r.backend;
  episode->group = r.group;
  episode->client = r.client;
  episode->environment = find_environment(state_->environments, r.environment);
  if (episode->environment == nullptr) {
    return failed_precondition("its environment '" + r.environment +
                               "' is not available on this server");
  }
  HONE_ASSIGN(episode->task, recorded_task(r, *tasks_));
  HONE_ASSIGN(const Value options, from_msgpack(r.options));
  HONE_ASSIGN(Value reward_config, from_msgpack(r.reward_config));
  Fields g(options, "options");
  static_cast<void>(g.choice_or("backend", r.backend, options_.backends));
  RewardChoice reward{r.reward, std::move(reward_config)};
  HONE_TRY(read_options(g, *episode, reward));
  for (const TurnRecord& turn : stored.turns) {
    episode->facts.push_back(facts_of(turn));
    episode->turns.push_back({turn.hash, turn.seed, turn.reply});
  }
  for (const CallRecord& call : stored.calls) {
    episode->call_facts.push_back({call.turn, call.call, call.tool});
    episode->calls.push_back({call.hash, call.reply});
  }
  episode->fingerprint = stored.fingerprint;
  episode->ended = stored.state != RecordState::kOpen;
  if (stored.intent) episode->intent = std::make_unique<const IntentRecord>(*stored.intent);
  episode->started_s = state_->now_s() - seconds_used(*episode);
  return episode;
}

}  // namespace hone
