// Peers: bounded outboxes, so that a connection that does not read costs little and delays no other.
#include "server/peers.hpp"

#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

constexpr std::int64_t kSilentNsMax = 3600LL * 1'000'000'000;

std::size_t bytes_of(const wire::Frames& frames) {
  std::size_t bytes = 0;
  for (const std::string& frame : frames) bytes += frame.size();
  return bytes;
}

std::string hex(const std::string& bytes) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

Peers::Peers(Door door, Socket socket, const ServerOptions& options, std::string name_prefix,
             Metrics& metrics, std::shared_ptr<const AllowList> allowed)
    : door_(door),
      socket_(std::move(socket)),
      options_(options),
      name_prefix_(std::move(name_prefix)),
      metrics_(metrics),
      allowed_(std::move(allowed)) {}

/// Rationale: ZeroMQ reuses routing ids, and a client may choose the id of an earlier client. The key decides the identity.
std::shared_ptr<Peer> Peers::get(const std::string& routing_id, const std::string& key,
                                 std::int64_t now_ns, bool takes_new) {
  std::string suffix;
  if (const auto found = peers_.find(routing_id); found != peers_.end()) {
    if (found->second->key == key) {
      found->second->heard_ns = now_ns;
      found->second->disconnected_ns = 0;
      found->second->steps_dropped = false;
      return found->second;
    }
    suffix = "-" + std::to_string(++renamed_);
    mark_disconnected(*found->second);
    peers_.erase(found);
  }
  if (!takes_new) return nullptr;
  if (peers_.size() >= options_.connections_max && !make_room()) return nullptr;
  auto peer = std::make_shared<Peer>();
  peer->door = door_;
  peer->routing_id = routing_id;
  peer->key = key;
  peer->caller.connection = name_prefix_ + hex(routing_id) + suffix;
  peer->caller.client = peer->caller.connection;
  peer->caller.control = door_ == Door::kControl;
  look_up(*peer);
  peer->since_ns = peer->heard_ns = now_ns;
  peers_.emplace(routing_id, peer);
  ++metrics_.connections;
  return peer;
}

void Peers::mark_disconnected(Peer& peer) {
  if (peer.disconnected_ns == 0) peer.disconnected_ns = monotonic_ns();
}

void Peers::look_up(Peer& peer) {
  if (allowed_ == nullptr) return;
  peer.client = allowed_->find(peer.key);
  peer.caller.proven = true;
  if (peer.client == nullptr) return;
  peer.caller.client = peer.client->name;
  peer.caller.held_out = peer.client->held_out;
  peer.caller.quotas = peer.client->quotas;
}

void Peers::look_up_again() {
  for (const auto& [id, peer] : peers_) {
    look_up(*peer);
    if (!revoked(*peer) || peer->outbox.empty()) continue;
    drop_outbox(*peer);
  }
}

bool Peers::make_room() {
  auto idlest = peers_.end();
  for (auto it = peers_.begin(); it != peers_.end(); ++it) {
    const Peer& peer = *it->second;
    if (!peer.in_flight.empty() || !peer.outbox.empty()) continue;
    if (idlest == peers_.end() || peer.heard_ns < idlest->second->heard_ns) idlest = it;
  }
  if (idlest == peers_.end()) return false;
  peers_.erase(idlest);
  return true;
}

void Peers::send(const std::shared_ptr<Peer>& peer, wire::Frames frames) {
  if (peer->dropped || peer->disconnected_ns != 0 || revoked(*peer)) {
    ++metrics_.replies_dropped;
    return;
  }
  const std::size_t bytes = bytes_of(frames);
  if (peer->outbox.empty()) {
    switch (socket_.send(peer->routing_id, frames)) {
      case Socket::Sent::kYes:
        metrics_.sent(bytes);
        return;
      case Socket::Sent::kGone:
        mark_disconnected(*peer);
        ++metrics_.replies_dropped;
        return;
      case Socket::Sent::kFull:
        break;
    }
    peer->stalled_since_ns = monotonic_ns();
    waiting_.push_back(peer);
  }
  peer->outbox.push_back(std::move(frames));
  peer->outbox_bytes += bytes;
  waiting_bytes_ += bytes;
  if (peer->outbox_bytes > options_.outbox_bytes_max) give_up(*peer);
}

void Peers::send_unqueued(Peer& peer, wire::Frames frames) {
  const std::size_t bytes = bytes_of(frames);
  if (peer.outbox.empty() && socket_.send(peer.routing_id, frames) == Socket::Sent::kYes) {
    metrics_.sent(bytes);
  } else {
    ++metrics_.replies_dropped;
  }
}

void Peers::drop_outbox(Peer& peer) {
  metrics_.replies_dropped += peer.outbox.size();
  waiting_bytes_ -= peer.outbox_bytes;
  peer.outbox.clear();
  peer.outbox_bytes = 0;
}

void Peers::give_up(Peer& peer) {
  log_warning("server", "connection " + peer.caller.connection + " of client '" +
                            peer.caller.client + "' does not read its replies: dropped " +
                            std::to_string(peer.outbox.size()) + " replies of " +
                            std::to_string(peer.outbox_bytes) + " bytes");
  drop_outbox(peer);
  peer.dropped = true;
  ++metrics_.stalled;
}

void Peers::flush(std::int64_t now_ns) {
  if (waiting_.empty()) return;
  for (const std::shared_ptr<Peer>& peer : waiting_) {
    while (!peer->outbox.empty()) {
      const std::size_t bytes = bytes_of(peer->outbox.front());
      const Socket::Sent sent = socket_.send(peer->routing_id, peer->outbox.front());
      if (sent == Socket::Sent::kFull) break;
      if (sent == Socket::Sent::kGone) {
        mark_disconnected(*peer);
        drop_outbox(*peer);
        break;
      }
      metrics_.sent(bytes);
      peer->outbox.pop_front();
      peer->outbox_bytes -= bytes;
      waiting_bytes_ -= bytes;
      peer->stalled_since_ns = now_ns;
    }
    const double stalled_s = static_cast<double>(now_ns - peer->stalled_since_ns) * 1e-9;
    if (!peer->outbox.empty() && stalled_s > options_.stalled_s_max) give_up(*peer);
  }
  std::erase_if(waiting_, [](const std::shared_ptr<Peer>& peer) { return peer->outbox.empty(); });
}

void Peers::expire(std::int64_t now_ns) {
  std::erase_if(peers_, [now_ns](const auto& entry) {
    const Peer& peer = *entry.second;
    if (!peer.in_flight.empty() || !peer.outbox.empty()) return false;
    return peer.disconnected_ns != 0 || now_ns - peer.heard_ns > kSilentNsMax;
  });
}

void Peers::each(const std::function<void(const std::shared_ptr<Peer>&)>& visit) {
  for (const auto& [id, peer] : peers_) visit(peer);
}

}  // namespace hone
