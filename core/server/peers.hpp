// Peers: the connections of one ROUTER socket, with their requests in flight and queued replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "episode/service.hpp"
#include "server/allow_list.hpp"
#include "server/metrics.hpp"
#include "server/options.hpp"
#include "server/socket.hpp"
#include "server/verbs.hpp"

namespace hone {

/// A request without its reply.
struct InFlight {
  Verb verb = kUnknownVerb;
  std::uint64_t serial = 0;
  std::int64_t started_ns = 0;
  std::int64_t overdue_ns = 0;  ///< when the server itself ends it; 0: never
  bool accepted = false;        ///< `accepted` was sent
  std::string progress = {};    ///< of a step: the last `progress` that was sent
};

/// One connection. Only the I/O thread may access the members; other threads may hold a pointer.
struct Peer {
  Door door = Door::kMain;
  std::string routing_id;
  Caller caller;
  std::string key;                              ///< its proven public key; empty without CURVE
  std::shared_ptr<const AllowedClient> client;  ///< owner of the key; null: no key, or revoked
  std::unordered_map<std::int64_t, InFlight> in_flight;

  std::deque<wire::Frames> outbox;
  std::size_t outbox_bytes = 0;
  std::int64_t stalled_since_ns = 0;
  bool dropped = false;              ///< replies to it were dropped because it did not read
  std::int64_t disconnected_ns = 0;  ///< time when a send failed; 0: connected
  bool steps_dropped = false;        ///< the service has cancelled its steps
  std::int64_t since_ns = 0;         ///< time of its first message
  std::int64_t heard_ns = 0;         ///< time of its last message
};

/// Not thread-safe; used by the I/O thread.
class Peers {
 public:
  Peers(Door door, Socket socket, const ServerOptions& options, std::string name_prefix,
        Metrics& metrics, std::shared_ptr<const AllowList> allowed = nullptr);

  /// The connection with this routing id and key. nullptr for a new one if `takes_new` is false, or
  /// if there are too many and none of them is idle.
  std::shared_ptr<Peer> get(const std::string& routing_id, const std::string& key,
                            std::int64_t now_ns, bool takes_new = true);
  /// Updates the permissions of each connection after a change of the allow-list. A connection with a revoked key gets only refusals.
  void look_up_again();

  /// Sends, or queues until the peer reads. Over the limits, the queue is dropped, and the peer's next request gets an error.
  void send(const std::shared_ptr<Peer>& peer, wire::Frames frames);
  /// Sends without queueing, for messages that may be lost.
  void send_unqueued(Peer& peer, wire::Frames frames);
  /// Retries queued messages.
  void flush(std::int64_t now_ns);
  /// Removes connections that ended or were silent for very long.
  void expire(std::int64_t now_ns);

  Socket& socket() { return socket_; }
  std::size_t size() const { return peers_.size(); }
  bool has_waiting() const { return !waiting_.empty(); }
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  void each(const std::function<void(const std::shared_ptr<Peer>&)>& visit);

  /// Whether its key was revoked.
  bool revoked(const Peer& peer) const { return allowed_ != nullptr && peer.client == nullptr; }

 private:
  void look_up(Peer& peer);
  static void mark_disconnected(Peer& peer);
  void give_up(Peer& peer);
  void drop_outbox(Peer& peer);
  bool make_room();

  Door door_;
  Socket socket_;
  const ServerOptions& options_;
  std::string name_prefix_;
  Metrics& metrics_;
  const std::shared_ptr<const AllowList> allowed_;  // null: no CURVE
  std::uint64_t renamed_ = 0;
  std::unordered_map<std::string, std::shared_ptr<Peer>> peers_;
  std::vector<std::shared_ptr<Peer>> waiting_;  // connections with queued messages
  std::size_t waiting_bytes_ = 0;
};

}  // namespace hone
