// EpisodeTable, second part: leases, and episodes that only the journal holds.
#include <algorithm>

#include "episode/table.hpp"

namespace hone {
namespace {

constexpr Sha256 kNoKey{};

}  // namespace

void EpisodeTable::renew(const Caller& caller, std::uint64_t id) {
  MutexLock lock(mutex_);
  if (const auto unloaded = unloaded_.find(id); unloaded != unloaded_.end()) {
    Unloaded& one = unloaded->second;
    if (caller.proven && one.load->name != caller.client) return;
    if (!caller.control && one.connection != caller.connection) return;
    one.expires_s = now_s_() + lease_s(one.ended);
    return;
  }
  const auto found = episodes_.find(id);
  if (found == episodes_.end() || found->second->foreign_to(caller)) return;
  if (caller.control || found->second->connection == caller.connection) renew_lease(*found->second);
}

void EpisodeTable::forget_bytes(const Episode& episode) {
  const std::size_t bytes = stored_bytes(episode);
  history_bytes_ -= bytes;
  episode.load->bytes -= bytes;
}

void EpisodeTable::uncount(ClientLoad* load, bool ended) {
  if (!ended) {
    --load->episodes_open;
    --open_;
  }
  --load->episodes;
  forget_if_idle(load);
}

void EpisodeTable::erase(const Pinned& episode) {
  forget_bytes(*episode);
  if (episode->reset_key != kNoKey) resets_.erase(episode->reset_key);
  uncount(episode->load, episode->ended);
  episodes_.erase(episode->id);
}

void EpisodeTable::drop(std::uint64_t id) {
  MutexLock lock(mutex_);
  if (const auto found = episodes_.find(id); found != episodes_.end()) erase(Pinned(found->second));
}

void EpisodeTable::forget_if_idle(ClientLoad* load) {
  if (load->episodes == 0 && load->steps == 0) clients_.erase(std::string(load->name));
}

std::vector<std::uint64_t> EpisodeTable::reap() {
  MutexLock lock(mutex_);
  const double now = now_s_();
  std::vector<std::uint64_t> reaped;
  while (!expiries_.empty() && expiries_.top().at_s <= now) {
    const std::uint64_t id = expiries_.top().id;
    expiries_.pop();
    if (const auto unloaded = unloaded_.find(id); unloaded != unloaded_.end()) {
      const Unloaded one = unloaded->second;
      if (one.expires_s > now) {
        expiries_.push({one.expires_s, id});
        continue;
      }
      unloaded_.erase(unloaded);
      uncount(one.load, one.ended);
      reaped.push_back(id);
      continue;
    }
    const auto found = episodes_.find(id);
    if (found == episodes_.end()) continue;
    const Pinned episode = found->second;
    if (episode->flight != nullptr) renew_lease(*episode);
    if (episode->expires_s > now) {
      expiries_.push({episode->expires_s, id});
      continue;
    }
    erase(episode);
    reaped.push_back(id);
  }
  return reaped;
}

void EpisodeTable::add_unloaded(std::uint64_t id, const std::string& client, bool ended,
                                const std::string& connection) {
  MutexLock lock(mutex_);
  ClientLoad* load = &clients_[client];
  load->name = client;
  ++load->episodes;
  if (!ended) {
    ++load->episodes_open;
    ++open_;
  }
  const double expires_s = now_s_() + limits_.lease_s;  // a full lease, also for an ended episode
  unloaded_[id] = {load, connection, expires_s, ended};
  expiries_.push({expires_s, id});
}

bool EpisodeTable::is_unloaded(std::uint64_t id) {
  MutexLock lock(mutex_);
  if (const auto found = episodes_.find(id); found != episodes_.end()) {
    found->second->resident_until_s = now_s_() + limits_.resident_s;
  }
  return unloaded_.count(id) != 0;
}

void EpisodeTable::reload(const Pinned& episode, const std::optional<ResetKey>& key) {
  MutexLock lock(mutex_);
  const auto unloaded = unloaded_.find(episode->id);
  if (unloaded == unloaded_.end()) return;
  episode->load = unloaded->second.load;
  episode->connection = std::move(unloaded->second.connection);
  episode->expires_s = unloaded->second.expires_s;
  episode->resident_until_s = now_s_() + limits_.resident_s;
  unloaded_.erase(unloaded);
  if (key) {
    episode->reset_key = key->key;
    resets_[key->key] = {episode->id, key->body};
  }
  episodes_[episode->id] = episode;
  keep(*episode, stored_bytes(*episode));
}

void EpisodeTable::unload_idle() {
  constexpr std::size_t kBucketsAtOnce = 4096;
  MutexLock lock(mutex_);
  const double now = now_s_();
  std::vector<Pinned> tired;
  const std::size_t buckets = episodes_.bucket_count();
  for (std::size_t i = 0; i < std::min(kBucketsAtOnce, buckets); ++i) {
    next_bucket_ = (next_bucket_ + 1) % buckets;
    for (auto one = episodes_.begin(next_bucket_); one != episodes_.end(next_bucket_); ++one) {
      const Pinned& episode = one->second;
      // Another owner of the pointer is about to use the episode, so it stays in memory.
      const bool alone = episode.use_count() == 1 && episode->flight == nullptr;
      // An episode with counted cancellations stays in memory, because the journal does not store them.
      const bool counts = !episode->cancelled_calls.empty() || episode->cancelled_steps > 0;
      if (alone && !counts && episode->resident_until_s < now) tired.push_back(episode);
    }
  }
  for (const Pinned& episode : tired) {
    forget_bytes(*episode);
    if (episode->reset_key != kNoKey) resets_.erase(episode->reset_key);
    unloaded_[episode->id] = {episode->load, episode->connection, episode->expires_s,
                              episode->ended};
    episodes_.erase(episode->id);
  }
}

EpisodeTable::Counts EpisodeTable::counts() const {
  MutexLock lock(mutex_);
  return {episodes_.size() + unloaded_.size(),
          open_,
          unloaded_.size(),
          clients_.size(),
          steps_,
          history_bytes_};
}

}  // namespace hone
