// Peers: the connections of one ROUTER socket, what each has in flight and what waits to be read by
// it.
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
  Verb verb = Verb::kUnknown;
  std::uint64_t serial = 0;
  std::int64_t started_ns = 0;
  std::int64_t overdue_ns = 0;  ///< when the server itself ends it; 0: never
  bool accepted = false;        ///< `accepted` was sent
  std::string progress = {};    ///< of a step: the last `progress` that was sent
};

/// One connection. The I/O thread's own; others may hold a pointer but not look.
struct Peer {
  Door door = Door::kMain;
  std::string routing_id;
  Caller caller;
  std::string key;  ///< that it has proven to have; empty: a server without CURVE
  std::shared_ptr<const AllowedClient>
      client;  ///< whose key it is; null: no key, or it was revoked
  std::unordered_map<std::int64_t, InFlight> in_flight;

  std::deque<wire::Frames> outbox;
  std::size_t outbox_bytes = 0;
  std::int64_t stalled_since_ns = 0;
  bool dropped = false;       ///< it did not read, and replies to it were lost
  std::int64_t gone_ns = 0;   ///< when it was found to be disconnected; 0: it is connected
  bool left = false;          ///< the service has been told to drop its steps
  std::int64_t since_ns = 0;  ///< its first message
  std::int64_t heard_ns = 0;  ///< its last
};

/// Not thread-safe: the I/O thread's own.
class Peers {
 public:
  Peers(Door door, Socket socket, const ServerOptions& options, std::string name_prefix,
        Metrics& metrics, std::shared_ptr<const AllowList> allowed = nullptr);

  /// The connection with this routing id and key. nullptr for a new one if `takes_new` is false, or
  /// if there are too many and none of them is idle.
  std::shared_ptr<Peer> get(const std::string& routing_id, const std::string& key,
                            std::int64_t now_ns, bool takes_new = true);
  /// After the allow-list changed: what each connection may do now. Those whose key was revoked are
  /// sent nothing any more but refusals.
  void look_up_again();

  /// Sends, or keeps it until the peer reads. Over the limits the peer is given up: what waits for
  /// it is dropped, and it is told so when it asks again.
  void send(const std::shared_ptr<Peer>& peer, wire::Frames frames);
  /// Sends without keeping: for what nobody misses.
  void send_or_forget(Peer& peer, wire::Frames frames);
  /// Tries again for those that did not read.
  void flush(std::int64_t now_ns);
  /// Forgets connections that left or were silent for very long.
  void expire(std::int64_t now_ns);

  Socket& socket() { return socket_; }
  std::size_t size() const { return peers_.size(); }
  bool has_waiting() const { return !waiting_.empty(); }
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  void each(const std::function<void(const std::shared_ptr<Peer>&)>& visit);

  /// Whether it may not ask anything any more.
  bool revoked(const Peer& peer) const { return allowed_ != nullptr && peer.client == nullptr; }

 private:
  void look_up(Peer& peer);
  static void mark_gone(Peer& peer);
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
  std::vector<std::shared_ptr<Peer>> waiting_;  // those with an outbox
  std::size_t waiting_bytes_ = 0;
};

}  // namespace hone
