// Doors: the sockets of the two endpoints, with their connections, keys and limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/allow_list.hpp"
#include "server/doorkeeper.hpp"
#include "server/metrics.hpp"
#include "server/options.hpp"
#include "server/peers.hpp"
#include "server/socket.hpp"

namespace hone {

/// Belongs to the I/O thread. The control endpoint is optional; without it, the main one serves all verbs.
class Doors {
 public:
  Doors(const ServerOptions& options, std::string incarnation, Metrics& metrics);

  /// Reads the keys and binds the endpoints.
  Status listen(SocketContext& context);
  void close();

  Peers& main() { return *main_; }
  Peers& of(const Peer& peer) { return peer.door == Door::kMain ? *main_ : *control_; }
  /// The control endpoint first: it is served before the main one.
  std::vector<Peers*> all() const;
  std::vector<Socket*> sockets() const;
  void each(const std::function<void(const std::shared_ptr<Peer>&)>& visit) const;

  void flush(std::int64_t now_ns);
  void expire(std::int64_t now_ns);
  bool has_waiting() const;  ///< replies are queued
  /// Applies a change of the allow-list to the connections. Costs one stat().
  void refresh_allow_list();
  /// Reads the allow-list even if its file seems unchanged, and applies it.
  void reload_allow_list();

  /// Whether the endpoint takes no new connection. The control endpoint always does, so that an operator can inspect a full server.
  bool full(const Peers& peers) const { return &peers == main_.get() && keeper_->full(); }
  std::string limit_text() const { return keeper_->limit_text(); }
  Doorkeeper::Counts counts() const { return keeper_->counts(); }
  std::size_t connections() const;
  std::size_t waiting_bytes() const;

  const std::string& incarnation() const { return incarnation_; }
  const std::string& endpoint() const { return endpoint_; }
  const std::string& control_endpoint() const { return control_endpoint_; }
  const std::string& server_key() const { return server_key_; }  ///< public key; empty: no CURVE

 private:
  Result<SocketOptions> socket_options() const;
  void apply_allow_list();
  Result<std::unique_ptr<Peers>> listen_on(Door door, Socket socket, std::string& endpoint);

  const ServerOptions& options_;
  const std::string incarnation_;
  Metrics& metrics_;
  std::string endpoint_, control_endpoint_;
  std::string server_key_;
  std::shared_ptr<AllowList> allowed_;  // null: no CURVE
  std::uint64_t allowed_generation_ = 0;
  std::unique_ptr<Doorkeeper> keeper_;     // goes after the sockets
  std::unique_ptr<Peers> main_, control_;  // control_: null when there is none
};

}  // namespace hone
