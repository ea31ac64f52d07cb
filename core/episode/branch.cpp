// branch: a new episode that begins with the first turns of another one.
#include <algorithm>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"
#include "episode/episode_service.hpp"
#include "episode/recording.hpp"

namespace hone {
namespace {

/// A copy of a stored reply with the id of another episode.
Result<std::shared_ptr<const std::string>> renamed(const std::string& reply,
                                                   const std::string& name) {
  HONE_ASSIGN(Value value, recorded_value(reply));
  value.set("episode", name);
  return std::make_shared<const std::string>(to_msgpack(value));
}

/// After the last turn of an ended episode, a branch would have no turn left.
Status check_turn(const Trunk& trunk, std::int64_t turn) {
  const std::size_t done = trunk.seen.turns.size();
  const std::string name = "episode " + trunk.seen.episode->name();
  if (turn > static_cast<std::int64_t>(done)) {
    return failed_precondition("found turn " + std::to_string(turn) + ", expected at most " +
                               std::to_string(done) + ", the last that " + name + " has done");
  }
  if (trunk.seen.ended && turn == static_cast<std::int64_t>(done)) {
    return failed_precondition(name + " ended after turn " + std::to_string(done) +
                               "; branch at an earlier one");
  }
  return {};
}

/// A new episode with the first `turn` turns of another one.
Result<EpisodeTable::Pinned> grow(const Trunk& trunk, std::int64_t turn, std::uint64_t id,
                                  double now_s) {
  const Episode& parent = *trunk.seen.episode;
  auto branch = std::make_shared<Episode>();
  branch->id = id;
  branch->seed = parent.seed;
  branch->environment = parent.environment;
  branch->task = parent.task;
  branch->settings = parent.settings;
  branch->reward = parent.reward;
  branch->backend = parent.backend;
  branch->group = parent.group;
  const auto count = static_cast<std::size_t>(turn);
  branch->facts.assign(trunk.seen.facts.begin(), trunk.seen.facts.begin() + turn);
  for (std::size_t i = 0; i < count; ++i) {
    StoredTurn copy = trunk.seen.turns[i];
    HONE_ASSIGN(copy.reply, renamed(*copy.reply, branch->name()));
    branch->turns.push_back(std::move(copy));
  }
  for (std::size_t i = 0; i < trunk.seen.calls.size(); ++i) {
    if (trunk.seen.call_facts[i].turn > turn) continue;
    StoredCall copy = trunk.seen.calls[i];
    HONE_ASSIGN(copy.reply, renamed(*copy.reply, branch->name()));
    branch->call_facts.push_back(trunk.seen.call_facts[i]);
    branch->calls.push_back(std::move(copy));
  }
  const bool measured = std::any_of(branch->facts.begin(), branch->facts.end(),
                                    [](const TurnFacts& facts) { return facts.speedup > 0; });
  if (measured) branch->fingerprint = trunk.seen.fingerprint;
  branch->started_s = now_s - seconds_used(*branch);
  return branch;
}

/// Drops the calls of later turns.
void keep_calls_until(EpisodeTable::Snapshot& seen, std::int64_t turn) {
  const auto later = std::find_if(seen.call_facts.begin(), seen.call_facts.end(),
                                  [turn](const CallFacts& call) { return call.turn > turn; });
  seen.calls.resize(static_cast<std::size_t>(later - seen.call_facts.begin()));
  seen.call_facts.erase(later, seen.call_facts.end());
}

EpisodeRecord record_of_branch(const Trunk& trunk, const Episode& branch, std::int64_t turn,
                               const std::optional<EpisodeTable::ResetKey>& key) {
  EpisodeRecord r = trunk.record;
  r.id = branch.id;
  r.token = branch.token;
  r.client = branch.client;
  r.group = branch.group;
  r.opened_at = wall_s();
  r.reset_key.reset();
  r.reset_body = {};
  if (key) {
    r.reset_key = key->key;
    r.reset_body = key->body;
  }
  r.parent = trunk.record.id;
  r.parent_turn = turn;
  return r;
}

/// The calls of its turns are the first ones, because both are in order.
InheritedRecords records_of_branch(const Trunk& trunk, const Episode& branch) {
  InheritedRecords records;
  for (std::size_t i = 0; i < branch.turns.size(); ++i) {
    TurnRecord& turn = records.turns.emplace_back(trunk.records.turns[i]);
    turn.episode = branch.id;
    turn.reply = branch.turns[i].reply;
  }
  for (std::size_t i = 0; i < branch.calls.size(); ++i) {
    CallRecord& call = records.calls.emplace_back(trunk.records.calls[i]);
    call.episode = branch.id;
    call.reply = branch.calls[i].reply;
  }
  return records;
}

}  // namespace

/// Rationale: with a journal, the episode is read from there. The journal has the actions, and also episodes
/// that have been closed.
Result<Trunk> Episodes::trunk(const Caller& caller, std::uint64_t id, const std::string& token) {
  if (state_->journal == nullptr) {
    HONE_ASSIGN(EpisodeTable::Snapshot seen, state_->table.peek(caller, id, token));
    return Trunk{std::move(seen), {}, {}};
  }
  HONE_ASSIGN(std::optional<StoredEpisode> stored, state_->journal->reader().episode(id));
  if (!stored) return unknown_episode();
  auto episode = restore(*stored);
  if (!episode) return episode.error().in("the episode cannot be branched");
  if ((*episode)->foreign_to(caller) || !equal_secrets((*episode)->token_text(), token)) {
    return unknown_episode();
  }
  const Episode& e = **episode;
  const bool ended = !stored->turns.empty() && stored->turns.back().ended;
  return Trunk{{*episode, e.facts, e.turns, e.call_facts, e.calls, false, ended, e.fingerprint},
               std::move(stored->record),
               {std::move(stored->turns), std::move(stored->calls)}};
}

void Episodes::branch(const Caller& caller, const Value& request, Reply reply) {
  if (Status tried = try_branch(caller, request, reply); !tried) reply(tried.error());
}

Status Episodes::try_branch(const Caller& caller, const Value& request, const Reply& reply) {
  HONE_ASSIGN(const auto read, wire::read_request<wire::BranchRequest>(request));
  const std::uint64_t id = episode_number(read.episode);
  const auto key = reset_key(caller, read.key, request);
  EpisodeTable::Pinned branch, fresh;
  EpisodeRecord record;
  InheritedRecords inherited;
  if (key) {
    HONE_ASSIGN(branch, find_reset(*key));
  }
  if (!branch) {
    if (state_->refusing) return unavailable("the server is shutting down");
    HONE_ASSIGN(const Trunk from, trunk(caller, id, read.token));
    HONE_TRY(check_turn(from, read.turn));
    HONE_ASSIGN(fresh, grow(from, read.turn, state_->table.unused_id(), state_->now_s()));
    if (!read.group.empty()) fresh->group = read.group;
    HONE_ASSIGN(branch, state_->table.insert(caller, fresh, key));
    if (branch == fresh && state_->journal != nullptr) {
      record = record_of_branch(from, *branch, read.turn, key);
      inherited = records_of_branch(from, *branch);
    }
  }
  const bool repeat = branch != fresh;
  if (!repeat) {
    log_info("episode " + branch->name(), "branched by '" + caller.client + "' from " +
                                              episode_name(id) + ", turn " +
                                              std::to_string(read.turn));
  }
  HONE_ASSIGN(EpisodeTable::Snapshot now,
              state_->table.peek(caller, branch->id, branch->token_text()));
  now.turns.resize(static_cast<std::size_t>(
      read.turn));  // a repeated request: the branch may have more turns by now
  now.facts.resize(static_cast<std::size_t>(read.turn));
  keep_calls_until(now, read.turn);
  now.pending = now.ended = false;
  Value body = resume_reply(now, options_.limits.lease_s, state_->now_s());
  body.set("token", branch->token_text());
  Value info = reset_info(*branch, evaluator_.fingerprint());
  info.set("parent", episode_name(id)).set("parent_turn", read.turn);
  body.set("info", std::move(info));
  answer_new(*branch, repeat, to_msgpack(body), std::move(record), std::move(inherited), reply);
  return {};
}

}  // namespace hone
