// Ownership, order of turns, leases and quotas, under one lock.
#include "episode/table.hpp"

#include <charconv>
#include <cstring>

#include "base/assert.hpp"

namespace hone {
namespace {

/// The reason why an ended episode ended, read from its last reply.
std::string stop_reason(const Episode& episode) {
  const Result<Value> reply = from_msgpack(*episode.turns.back().reply);
  const Value* info = reply ? reply->find("info") : nullptr;
  const Value* reason = info != nullptr ? info->find("stop_reason") : nullptr;
  return reason != nullptr && reason->is_string() ? " (" + reason->as_string() + ")" : "";
}

Error out_of_order(std::int64_t found, std::size_t done) {
  return failed_precondition("found turn " + std::to_string(found) + ", expected " +
                             std::to_string(done + 1));
}

/// "turn 2", or "call 1 of turn 2".
std::string name_of(const Flight& flight) {
  const std::string turn = "turn " + std::to_string(flight.turn);
  return flight.call == 0 ? turn : "call " + std::to_string(flight.call) + " of " + turn;
}

bool is_same_place(const Flight& a, const Flight& b) {
  return a.turn == b.turn && a.call == b.call;
}

Error another_connection(const Episode& episode) {
  return failed_precondition("episode " + episode.name() +
                             " belongs to another connection; resume it with its token");
}

/// The reply of a turn or call that is done; null if it is not done.
Result<EpisodeTable::Body> stored_reply(const Episode& episode, const Flight& flight) {
  const auto reply = [&](const Sha256& action,
                         const EpisodeTable::Body& stored) -> Result<EpisodeTable::Body> {
    if (action == flight.hash) return stored;
    return failed_precondition(name_of(flight) + " is done, with another action");
  };
  if (flight.call > 0) {
    for (std::size_t i = 0; i < episode.calls.size(); ++i) {
      const CallFacts& facts = episode.call_facts[i];
      if (facts.turn == flight.turn && facts.call == flight.call)
        return reply(episode.calls[i].action, episode.calls[i].reply);
    }
    return EpisodeTable::Body();
  }
  if (flight.turn < 1 || static_cast<std::size_t>(flight.turn) > episode.turns.size())
    return EpisodeTable::Body();
  const StoredTurn& turn = episode.turns[static_cast<std::size_t>(flight.turn) - 1];
  return reply(turn.action, turn.reply);
}

std::size_t quota(std::size_t own, std::size_t everybody) { return own != 0 ? own : everybody; }

constexpr std::size_t kWaitersMax = 64;

}  // namespace

Error unknown_episode() {
  return not_found(
      "no such episode: it was closed, its lease ran out, it never existed, or the token is "
      "wrong");
}

std::size_t stored_bytes(const Episode& episode) {
  std::size_t bytes = 0;
  for (const StoredTurn& turn : episode.turns) bytes += turn.reply->size();
  for (const StoredCall& call : episode.calls) bytes += call.reply->size();
  return bytes;
}

std::string episode_name(std::uint64_t id) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(id));
  return digits;
}

std::string Episode::token_text() const { return to_hex(token); }

std::uint64_t episode_number(std::string_view name) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number, 16);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && name.size() == 16 ? number : 0;
}

std::size_t EpisodeTable::KeyHash::operator()(const Sha256& key) const {
  std::size_t head = 0;
  std::memcpy(&head, key.data(), sizeof head);
  return head;
}

EpisodeTable::EpisodeTable(EpisodeLimits limits, std::function<double()> now_s)
    : limits_(limits), now_s_(std::move(now_s)) {}

double EpisodeTable::lease_s(bool ended) const {
  return ended ? limits_.ended_lease_s : limits_.lease_s;
}

void EpisodeTable::renew_lease(Episode& episode) {
  const double now = now_s_();
  episode.expires_s = now + lease_s(episode.ended);
  episode.resident_until_s = now + limits_.resident_s;
}

Result<EpisodeTable::Pinned> EpisodeTable::find_reset(const ResetKey& key) const {
  MutexLock lock(mutex_);
  return find_reset_locked(key);
}

Result<EpisodeTable::Pinned> EpisodeTable::find_reset_locked(const ResetKey& key) const {
  const auto known = resets_.find(key.key);
  if (known == resets_.end()) return Pinned();
  if (known->second.body != key.body) {
    return failed_precondition("the key belongs to another reset, whose episode still exists");
  }
  return episodes_.at(known->second.id);
}

Result<EpisodeTable::Pinned> EpisodeTable::insert(const Caller& caller, Pinned episode,
                                                  const std::optional<ResetKey>& key) {
  MutexLock lock(mutex_);
  if (key) {
    HONE_ASSIGN(Pinned older, find_reset_locked(*key));
    if (older) return older;
  }
  const std::size_t held = episodes_.size() + unloaded_.size();
  if (held >= limits_.episodes) {
    return resource_exhausted("the server holds " + std::to_string(held) + " episodes, at most " +
                              std::to_string(limits_.episodes) + " allowed");
  }
  const auto load = clients_.find(caller.client);
  const std::size_t open = load == clients_.end() ? 0 : load->second.episodes_open;
  const std::size_t open_max = quota(caller.quotas.episodes, limits_.client_episodes);
  if (open >= open_max) {
    return resource_exhausted("client '" + caller.client + "' has " + std::to_string(open) +
                              " open episodes, at most " + std::to_string(open_max) + " allowed");
  }
  HONE_TRY(check_bytes(caller));
  if (episode->id == 0) episode->id = unused_id_locked();
  random_bytes(episode->token);
  episode->connection = caller.connection;
  episode->client = caller.client;
  episode->load = &clients_[caller.client];
  episode->load->name = caller.client;
  ++episode->load->episodes_open;
  ++episode->load->episodes;
  ++open_;
  renew_lease(*episode);
  if (key) {
    episode->reset_key = key->key;
    resets_[key->key] = {episode->id, key->body};
  }
  expiries_.push({episode->expires_s, episode->id});
  episodes_[episode->id] = episode;
  keep(*episode, stored_bytes(*episode));
  return episode;
}

std::uint64_t EpisodeTable::unused_id() const {
  MutexLock lock(mutex_);
  return unused_id_locked();
}

std::uint64_t EpisodeTable::unused_id_locked() const {
  std::uint64_t id = 0;
  while (id == 0 || episodes_.count(id) != 0 || unloaded_.count(id) != 0) id = random_u64();
  return id;
}

Result<EpisodeTable::Pinned> EpisodeTable::owned(const Caller& caller, std::uint64_t id) {
  const auto found = episodes_.find(id);
  if (found == episodes_.end() || found->second->foreign_to(caller)) return unknown_episode();
  if (found->second->connection != caller.connection) return another_connection(*found->second);
  renew_lease(*found->second);
  return found->second;
}

Status EpisodeTable::check_order(const Episode& episode, const Flight& flight) const {
  if (episode.flight != nullptr) {
    if (is_same_place(*episode.flight, flight))
      return failed_precondition(name_of(flight) + " is under way with another action");
    return failed_precondition("found " + name_of(flight) + " while " + name_of(*episode.flight) +
                               " is under way");
  }
  if (episode.ended) {
    return failed_precondition("the episode ended after turn " +
                               std::to_string(episode.turns.size()) + stop_reason(episode));
  }
  if (flight.turn != static_cast<std::int64_t>(episode.turns.size()) + 1) {
    return out_of_order(flight.turn, episode.turns.size());
  }
  if (flight.call == 0) return {};
  const std::int64_t next = 1 + calls_in_turn(episode.call_facts, flight.turn);
  if (flight.call == next) return {};
  return failed_precondition("found " + name_of(flight) + ", expected call " +
                             std::to_string(next));
}

Result<EpisodeTable::Begun> EpisodeTable::begin(const Caller& caller, std::uint64_t id,
                                                std::shared_ptr<Flight> flight, Waiter waiter,
                                                bool refuse_new) {
  MutexLock lock(mutex_);
  HONE_ASSIGN(Pinned episode, owned(caller, id));
  HONE_ASSIGN(const Body stored, stored_reply(*episode, *flight));
  if (stored != nullptr) return Begun(stored);
  Flight* under_way = episode->flight.get();
  if (under_way != nullptr && is_same_place(*under_way, *flight) &&
      under_way->hash == flight->hash) {
    if (under_way->cancelled) {
      return failed_precondition(name_of(*flight) + " is being cancelled");
    }
    if (under_way->waiters.size() >= kWaitersMax) {
      return resource_exhausted(name_of(*flight) + " already has " + std::to_string(kWaitersMax) +
                                " waiting requests");
    }
    under_way->waiters.push_back(std::move(waiter));
    return Begun(Joined());
  }
  HONE_TRY(check_order(*episode, *flight));
  if (refuse_new) return unavailable("the server is shutting down");
  const std::size_t steps_max = quota(caller.quotas.steps, limits_.client_steps);
  if (episode->load->steps >= steps_max) {
    return resource_exhausted("client '" + episode->client + "' has " +
                              std::to_string(episode->load->steps) + " steps under way, at most " +
                              std::to_string(steps_max) + " allowed");
  }
  HONE_TRY(check_bytes(caller));
  if (flight->call == 0 && episode->cancelled_steps >= limits_.cancelled_steps)
    flight->deadline_s = 0;
  ++episode->load->steps;
  ++steps_;
  flight->waiters.push_back(std::move(waiter));
  episode->flight = flight;
  return Begun(Started{std::move(episode), std::move(flight)});
}

/// Rationale: stored bytes grow with every turn, so new episodes and new turns both check the quota.
Status EpisodeTable::check_bytes(const Caller& caller) const {
  const auto load = clients_.find(caller.client);
  const std::size_t bytes = load == clients_.end() ? 0 : load->second.bytes;
  const std::size_t bytes_max = quota(caller.quotas.bytes, limits_.client_bytes);
  if (bytes < bytes_max) return {};
  return resource_exhausted("client '" + caller.client + "' has " + std::to_string(bytes) +
                            " bytes of stored turns, at most " + std::to_string(bytes_max) +
                            " allowed; close episodes");
}

void EpisodeTable::keep(Episode& episode, std::size_t bytes) {
  if (episodes_.count(episode.id) == 0) return;  // it was closed meanwhile
  history_bytes_ += bytes;
  episode.load->bytes += bytes;
}

bool EpisodeTable::submitted(const Started& step, std::uint64_t evaluation) {
  MutexLock lock(mutex_);
  step.flight->evaluation = evaluation;
  step.flight->submitted = true;
  return step.flight->cancelled;
}

bool EpisodeTable::settle(const Started& step) {
  MutexLock lock(mutex_);
  step.flight->settled = true;
  return step.flight->cancelled;
}

bool EpisodeTable::count_early_end(const Started& step) {
  MutexLock lock(mutex_);
  if (step.flight->begun) ++step.episode->cancelled_steps;
  return step.flight->begun;
}

bool EpisodeTable::count_early_end(const Started& step, CallFacts call) {
  MutexLock lock(mutex_);
  if (step.flight->begun) step.episode->cancelled_calls.push_back(std::move(call));
  return step.flight->begun;
}

std::vector<EpisodeService::Progress> EpisodeTable::watchers(const Started& step, bool begun) {
  MutexLock lock(mutex_);
  if (begun) step.flight->begun = true;
  std::vector<EpisodeService::Progress> found;
  for (const Waiter& waiter : step.flight->waiters) {
    if (waiter.progress) found.push_back(waiter.progress);
  }
  return found;
}

std::vector<Waiter> EpisodeTable::take_waiters(const Started& step) {
  Episode& episode = *step.episode;
  HONE_ASSERT(episode.flight == step.flight);
  episode.flight.reset();
  --episode.load->steps;
  --steps_;
  if (episodes_.count(episode.id) == 0) {
    forget_if_idle(episode.load);  // the episode was closed meanwhile
  } else {
    renew_lease(episode);
  }
  return std::move(step.flight->waiters);
}

std::vector<Waiter> EpisodeTable::end(const Started& step, TurnFacts facts, Body reply, bool ended,
                                      std::uint64_t fingerprint) {
  MutexLock lock(mutex_);
  Episode& episode = *step.episode;
  // Rationale: growing one by one keeps short episodes small. Episodes never have many turns.
  episode.facts.reserve(episode.facts.size() + 1);
  episode.turns.reserve(episode.turns.size() + 1);
  episode.facts.push_back(facts);
  keep(episode, reply->size());
  episode.turns.push_back({step.flight->hash, step.flight->seed, std::move(reply)});
  if (episode.fingerprint == 0) episode.fingerprint = fingerprint;
  if (ended && episodes_.count(episode.id) != 0) {
    episode.ended = true;
    --episode.load->episodes_open;
    --open_;
    expiries_.push({now_s_() + limits_.ended_lease_s, episode.id});
  }
  return take_waiters(step);
}

std::vector<Waiter> EpisodeTable::end_call(const Started& step, CallFacts facts, Body reply) {
  MutexLock lock(mutex_);
  Episode& episode = *step.episode;
  keep(episode, reply->size());
  episode.call_facts.push_back(std::move(facts));
  episode.calls.push_back({step.flight->hash, std::move(reply)});
  return take_waiters(step);
}

std::vector<Waiter> EpisodeTable::abandon(const Started& step) {
  MutexLock lock(mutex_);
  return take_waiters(step);
}

Result<std::pair<std::optional<std::uint64_t>, bool>> EpisodeTable::cancel(const Caller& caller,
                                                                           std::uint64_t id,
                                                                           std::int64_t turn) {
  MutexLock lock(mutex_);
  const auto found = episodes_.find(id);
  if (found == episodes_.end() || found->second->foreign_to(caller)) return unknown_episode();
  Episode& episode = *found->second;
  // Rationale: the control endpoint is another connection. There the episode's random name is sufficient
  // proof.
  if (!caller.control && episode.connection != caller.connection) {
    return another_connection(episode);
  }
  renew_lease(episode);
  std::optional<std::uint64_t> evaluation;
  const bool its_turn = episode.flight != nullptr && episode.flight->turn == turn;
  const bool under_way = its_turn && mark_cancelled(episode, evaluation);
  return std::pair(evaluation, under_way);
}

bool EpisodeTable::mark_cancelled(Episode& episode,
                                  std::optional<std::uint64_t>& evaluation) const {
  if (episode.flight == nullptr || episode.flight->settled) return false;
  const bool counts = episode.flight->call == 0 && episode.flight->begun;
  if (counts && episode.cancelled_steps >= limits_.cancelled_steps) return false;
  episode.flight->cancelled = true;
  if (episode.flight->submitted) evaluation = episode.flight->evaluation;
  return true;
}

EpisodeTable::Left EpisodeTable::leave(const std::set<std::string>& connections) {
  MutexLock lock(mutex_);
  Left left;
  for (const auto& [id, episode] : episodes_) {
    if (episode->flight == nullptr || connections.count(episode->connection) == 0) continue;
    std::optional<std::uint64_t> evaluation;
    if (!mark_cancelled(*episode, evaluation)) continue;
    ++left.steps;
    if (evaluation) left.evaluations.push_back(*evaluation);
  }
  return left;
}

Result<std::pair<EpisodeTable::Snapshot, std::optional<std::uint64_t>>> EpisodeTable::close(
    const Caller& caller, std::uint64_t id) {
  MutexLock lock(mutex_);
  HONE_ASSIGN(Pinned episode, owned(caller, id));
  std::optional<std::uint64_t> evaluation;
  if (episode->flight != nullptr) {
    episode->flight->cancelled = true;
    if (episode->flight->submitted) evaluation = episode->flight->evaluation;
  }
  Snapshot last = snapshot(episode);
  erase(episode);
  return std::pair(std::move(last), evaluation);
}

Result<EpisodeTable::Pinned> EpisodeTable::known(const Caller& caller, std::uint64_t id,
                                                 std::string_view token) {
  const auto found = episodes_.find(id);
  if (found == episodes_.end()) return unknown_episode();
  const Pinned& episode = found->second;
  if (episode->foreign_to(caller) || !equal_secrets(episode->token_text(), token)) {
    return unknown_episode();
  }
  renew_lease(*episode);
  return episode;
}

EpisodeTable::Snapshot EpisodeTable::snapshot(const Pinned& episode) {
  return {episode,        episode->facts,
          episode->turns, episode->call_facts,
          episode->calls, episode->flight != nullptr,
          episode->ended, episode->fingerprint};
}

Result<EpisodeTable::Snapshot> EpisodeTable::resume(const Caller& caller, std::uint64_t id,
                                                    std::string_view token) {
  MutexLock lock(mutex_);
  HONE_ASSIGN(const Pinned episode, known(caller, id, token));
  episode->connection = caller.connection;
  return snapshot(episode);
}

Result<EpisodeTable::Snapshot> EpisodeTable::peek(const Caller& caller, std::uint64_t id,
                                                  std::string_view token) {
  MutexLock lock(mutex_);
  HONE_ASSIGN(const Pinned episode, known(caller, id, token));
  return snapshot(episode);
}

}  // namespace hone
