// describe and reset: read a request and create an episode.
#include <algorithm>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/log_fields.hpp"
#include "base/nearest.hpp"
#include "episode/episode_service.hpp"
#include "episode/recording.hpp"

namespace hone {
namespace {

constexpr std::size_t kRewardsKept = 1024;

Value task_line(const TaskSummary& task) {
  return Value::map({{"id", task.full_id()},
                     {"title", task.entry.title},
                     {"split", task.entry.split},
                     {"tags", texts_value(task.entry.tags)},
                     {"backends", texts_value(task.entry.backends)}});
}

/// Whether this server can judge the task.
bool runs_on(const TaskEntry& task, const std::vector<std::string>& backends) {
  return std::find_first_of(task.backends.begin(), task.backends.end(), backends.begin(),
                            backends.end()) != task.backends.end();
}

}  // namespace

Result<std::shared_ptr<const Reward>> RewardCache::get(const std::string& name,
                                                       const Value& config) {
  const std::pair key(name, to_msgpack(config));
  {
    MutexLock lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) {
      if (std::shared_ptr<const Reward> reward = found->second.lock()) return reward;
    }
  }
  HONE_ASSIGN(std::unique_ptr<Reward> opened, open_(name, config));
  std::shared_ptr<const Reward> reward(std::move(opened));
  MutexLock lock(mutex_);
  if (known_.size() >= kRewardsKept) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  }
  if (known_.size() < kRewardsKept || known_.count(key) != 0) known_[key] = reward;
  return reward;
}

Result<Value> Episodes::describe(const Caller& caller, const Value& request) {
  HONE_ASSIGN(const auto read, wire::read_request<wire::DescribeRequest>(request));
  HONE_ASSIGN(const Environment* chosen, environment("describe", read.environment));
  Value about = chosen->describe();
  if (const Value* own = about.find("options")) {
    Value options = *own;
    options.set("backend", options_.backends.front());
    options.set("reward", options_.reward).set("reward_config", options_.reward_config);
    about.set("options", std::move(options));
  }
  Value described = Value::map({{"environment", std::move(about)}});
  if (!read.task.empty()) {
    HONE_TRY(describe_task(caller, *chosen, read, described));
    return described;
  }
  HONE_ASSIGN(const std::vector<const TaskSummary*> found,
              tasks_->list(read.split, caller.held_out));
  Value list = Value::array();
  for (const TaskSummary* task : found) {
    if (!chosen->takes(task->entry)) continue;
    if (runs_on(task->entry, options_.backends)) list.push(task_line(*task));
  }
  described.set("tasks", std::move(list));
  return described;
}

/// The task as a client may see it, and the prompt that a reset with these options would return.
Status Episodes::describe_task(const Caller& caller, const Environment& environment,
                               const wire::DescribeRequest& request, Value& described) const {
  const std::string& id = request.task;
  HONE_ASSIGN(const std::shared_ptr<const Task> task, tasks_->find(id, caller.held_out));
  std::string fallback = options_.backends.front();
  for (const std::string& one : options_.backends) {
    if (task->backends.count(fallback) == 0) fallback = one;
  }
  const Value options = request.options.value_or(Value::map());
  Fields g(options, "describe/options");
  const std::string backend = g.choice_or("backend", fallback, options_.backends);
  described.set("task", task_for_client(*task, backend));
  HONE_ASSIGN(const TaskEntry entry, tasks_->entry(id, caller.held_out));
  const bool playable = task->backends.count(backend) != 0 && environment.takes(entry);
  if (!request.options && !playable)
    return {};  // not playable on this server or in this environment
  const auto whole = tasks_->find_for(backend, id, caller.held_out);
  if (!whole) return whole.error().in("describe/options/backend");
  (void)g.text_or("reward", "",
                  wire::kNameBytesMax);  // a reset has it too, but the prompt does not depend on it
  (void)g.map_or_null("reward_config");
  const std::shared_ptr<const Settings> settings = environment.read_options(g, **whole, backend);
  HONE_TRY(g.finish());
  const Value first = environment.first_observation({**whole, backend, *settings, {}, 0});
  if (const Value* messages = first.find("messages")) described.set("messages", *messages);
  return {};
}

void Episodes::reset(const Caller& caller, const Value& request, Reply reply) {
  if (Status tried = try_reset(caller, request, reply); !tried) reply(tried.error());
}

/// Replies only after the episode is recorded, by this request or by an earlier one with the same key.
Status Episodes::try_reset(const Caller& caller, const Value& request, const Reply& reply) {
  HONE_ASSIGN(const auto read, wire::read_request<wire::ResetRequest>(request));
  const auto key = reset_key(caller, read.key, request);
  EpisodeTable::Pinned episode, fresh;
  RewardChoice reward;
  if (key) {
    HONE_ASSIGN(episode, find_reset(*key));
  }
  if (!episode) {
    if (state_->refusing) return unavailable("the server is shutting down");
    HONE_ASSIGN(fresh, new_episode(caller, read, reward));
    HONE_ASSIGN(episode, state_->table.insert(caller, fresh, key));
  }
  const bool repeat = episode != fresh;
  if (!repeat && log_wanted(LogLevel::kInfo)) {
    const std::string task = episode->task->dataset + "/" + episode->task->id;
    log_with_fields(LogLevel::kInfo, "episode " + episode->name(),
                    "opened by '" + caller.client + "': " + task,
                    {{"episode", to_json(episode->name())},
                     {"client", to_json(caller.client)},
                     {"task", to_json(task)}});
  }
  std::string body = reset_reply(*episode, options_.limits.lease_s, evaluator_.fingerprint());
  EpisodeRecord record;
  if (!repeat && state_->journal != nullptr) {
    record = record_of(*episode, request, reward.name, reward.config, key);
  }
  answer_new(*episode, repeat, std::move(body), std::move(record), {}, reply);
  return {};
}

void Episodes::answer_new(const Episode& episode, bool repeat, std::string body,
                          EpisodeRecord record, InheritedRecords inherited, const Reply& reply) {
  ++(repeat ? state_->repeats : state_->resets);
  if (state_->journal == nullptr) return reply(std::move(body));
  auto done = [state = state_, id = episode.id, repeat, reply,
               body = std::move(body)](const Status& recorded) {
    if (recorded) return reply(body);
    if (!repeat) state->table.drop(id);
    reply(recorded.error());
  };
  if (repeat) {
    state_->journal->sync(std::move(done));
  } else {
    state_->journal->add(std::move(record), std::move(done), std::move(inherited));
  }
}

/// Rationale: keys of different clients must not collide. So the client's name is part of the hash, and so is
/// the name's length, so that name and key cannot be confused.
std::optional<EpisodeTable::ResetKey> Episodes::reset_key(const Caller& caller,
                                                          const std::string& key,
                                                          const Value& request) {
  if (key.empty()) return std::nullopt;
  return EpisodeTable::ResetKey{
      sha256(std::to_string(caller.client.size()) + ":" + caller.client + key),
      sha256(to_msgpack(request))};
}

Result<EpisodeTable::Pinned> Episodes::find_reset(const EpisodeTable::ResetKey& key) {
  HONE_ASSIGN(EpisodeTable::Pinned episode, state_->table.find_reset(key));
  if (episode || state_->journal == nullptr) return episode;
  HONE_ASSIGN(const auto slept, state_->journal->reader().held_reset(key.key));
  if (!slept) return episode;
  HONE_TRY(reload(slept->first));
  return state_->table.find_reset(key);
}

Result<EpisodeTable::Pinned> Episodes::new_episode(const Caller& caller,
                                                   const wire::ResetRequest& request,
                                                   RewardChoice& reward) {
  auto episode = std::make_shared<Episode>();
  HONE_ASSIGN(episode->environment, environment("reset", request.environment));
  // A drawn seed is non-negative. The reply contains it, so that a client can pass it to another reset.
  const auto drawn = static_cast<std::int64_t>(random_u64() >> 1);
  episode->seed = static_cast<std::uint64_t>(request.seed.value_or(drawn));
  episode->group = request.group;
  const Value options = request.options.value_or(Value::map());
  Fields g(options, "reset/options");
  episode->backend = g.choice_or("backend", options_.backends.front(), options_.backends);
  HONE_TRY(g.finish_loosely());
  HONE_ASSIGN(episode->task, choose_task(caller, request, *episode));
  HONE_TRY(read_options(g, *episode, reward));
  episode->started_s = state_->now_s();
  return episode;
}

Result<std::shared_ptr<const Task>> Episodes::choose_task(const Caller& caller,
                                                          const wire::ResetRequest& request,
                                                          const Episode& episode) const {
  const std::string& backend = episode.backend;
  const Environment& environment = *episode.environment;
  std::string id = request.task;
  const std::string& split = request.split;
  if (id.empty()) {
    HONE_ASSIGN(id, tasks_->draw(episode.seed, split.empty() ? options_.split : split, backend,
                                 caller.held_out, [&environment](const TaskEntry& entry) {
                                   return environment.takes(entry);
                                 }));
  }
  HONE_ASSIGN(const std::shared_ptr<const Task> task, tasks_->find(id, caller.held_out));
  if (!split.empty() && task->split != split) {
    return invalid_argument("reset: split: the task '" + id + "' is in split '" + task->split +
                            "', not in '" + split + "'");
  }
  auto whole = tasks_->find_for(backend, id, caller.held_out);
  if (!whole) return whole.error().in("reset/options/backend");
  HONE_ASSIGN(const TaskEntry entry, tasks_->entry(id, caller.held_out));
  if (!environment.takes(entry)) {
    return invalid_argument("reset: task: '" + id + "' cannot be used in the environment '" +
                            environment.name() + "'");
  }
  return whole;
}

Status Episodes::read_options(Fields& g, Episode& episode, RewardChoice& reward) {
  const bool own_reward = g.has("reward");
  const std::string name = g.text_or("reward", options_.reward, wire::kNameBytesMax);
  const Value* config = g.map_or_null("reward_config");
  episode.settings = episode.environment->read_options(g, *episode.task, episode.backend);
  HONE_TRY(g.finish());
  HONE_ASSERT(episode.settings != nullptr);
  if (reward.name.empty()) {
    const Value fallback = own_reward ? Value::map() : options_.reward_config;
    reward = {name, config != nullptr ? *config : fallback};
  }
  auto opened = rewards_.get(reward.name, reward.config);
  if (!opened) return opened.error().in("reset/options: reward");
  episode.reward = std::move(*opened);
  return {};
}

Result<const Environment*> Episodes::environment(std::string_view verb,
                                                 const std::optional<std::string>& name) const {
  if (!name) return state_->environments.front().get();
  if (const Environment* found = find_environment(state_->environments, *name)) return found;
  return invalid_argument(std::string(verb) +
                          ": environment: " + unknown_name("value", *name, environment_names()));
}

std::vector<std::string> Episodes::environment_names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Environment>& one : state_->environments) names.push_back(one->name());
  return names;
}

Value Episodes::capabilities() const {
  return Value::map({{"environments", texts_value(environment_names())},
                     {"backends", texts_value(options_.backends)},
                     {"isolation", options_.isolation},
                     {"fingerprint", evaluator_.fingerprint()},
                     {"lease_s", options_.limits.lease_s}});
}

}  // namespace hone
