// Server: hone/1 over ZeroMQ, in front of an EpisodeService.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "episode/service.hpp"
#include "server/options.hpp"
#include "server/socket.hpp"

namespace hone {

class IoLoop;

/// Owns its sockets, one I/O thread and a few workers. The service must outlive it.
///
/// Theory of operation: the I/O thread owns both ROUTER sockets and all state of connections. It
/// calls the service itself where that returns at once (step, cancel, close, resume) and through
/// the workers where it may load (describe, reset). What the service says, from whatever thread,
/// comes back through one queue, so no lock is held while a socket is used and no reply is sent by
/// two.
///
///   HONE_ASSIGN(auto server, Server::start({.endpoint = "tcp://127.0.0.1:0"}, service));
///   print(server->endpoint());
///   server->shut_down(30);
class Server {
 public:
  /// Listens at once. Errors are those of prepare_endpoint and of listening.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, EpisodeService& service);
  /// Aborts requests in flight, as shut_down(0) does.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& endpoint() const;          ///< with its port
  const std::string& control_endpoint() const;  ///< with its port; empty: none
  const std::string& incarnation() const;       ///< new for each start
  std::string server_key() const;               ///< its public key; empty: no CURVE

  /// [any thread] Reads the allow-list again.
  void reload_keys();
  /// [any thread] Stops accepting connections and requests, and sends `going_away`. Waits up to `timeout_s` for requests in flight, answers the rest with `unavailable`, and returns when all replies are sent, or after `linger_s`. True if no request was aborted. A second call waits for the first.
  bool shut_down(double timeout_s);

 private:
  explicit Server(std::unique_ptr<SocketContext> context, std::unique_ptr<IoLoop> loop);

  std::unique_ptr<SocketContext> context_;
  std::unique_ptr<IoLoop> loop_;
  std::thread thread_;
  Mutex ending_;
  bool ended_ HONE_GUARDED_BY(ending_) = false;
  bool clean_ HONE_GUARDED_BY(ending_) = true;
};

}  // namespace hone
