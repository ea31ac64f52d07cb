// Options of a server, filled in from the configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "wire/message.hpp"

namespace hone {

/// Connections that a server serves, if its open-file limit allows it. Beyond this number it answers BUSY; beyond an
/// eighth more it closes new connections.
inline constexpr std::size_t kConnectionsMax = 16384;

/// Reasons for a reduced service, one line each.
struct ServerProblems {
  std::vector<std::string> blocking;  ///< steps cannot be done
  std::vector<std::string> partial;   ///< steps can be done, but for example not on every device
};

struct ServerOptions {
  std::string endpoint = "tcp://127.0.0.1:5917";
  std::string control_endpoint =
      "tcp://127.0.0.1:5918";  ///< empty: none; the main one then serves its verbs

  /// Folder of keys (keys.hpp). With it both endpoints are encrypted and serve the clients of its
  /// allow-list, on any address; empty: unencrypted, and only on loopback.
  std::string keys;

  wire::Limits limits;
  std::size_t source_bytes_max = 1u << 20;    ///< published in hello; the environment enforces it
  std::size_t response_bytes_max = 1u << 20;  ///< published in hello; the environment enforces it
  std::size_t episodes_max = 100000;          ///< published in hello; the service enforces it
  std::size_t in_flight_max = 4096;           ///< requests of one connection without their reply
  std::size_t queue_max = 1024;               ///< describes and resets waiting for a worker
  std::size_t workers = 2;  ///< threads for describe and reset, which may load from disk
  std::size_t connections_max = kConnectionsMax;  ///< of one endpoint, that have sent a message

  // Limits of connections without a handshake. Only tests change them.
  int handshake_ms = 0;  ///< time limit of a handshake; 0: 5000 with keys, 30000 without
  std::size_t strangers_max =
      0;  ///< limit of silent connections; beyond it the oldest is closed. 0: 256 with keys; 8192 without, because all clients are local
  std::size_t sockets_max =
      kConnectionsMax +
      kConnectionsMax / 8;  ///< limit of connections; at most half the open-file limit

  std::size_t outbox_bytes_max = 32u << 20;  ///< limit of queued replies of one connection (bytes)
  double stalled_s_max = 60;  ///< time after which a connection that does not read is given up
  int hwm = 256;              ///< messages in ZeroMQ's own queue per connection

  double heartbeat_s = 10;
  double deadline_grace_s =
      0.5;  ///< time after its deadline at which the server answers a request itself
  double reap_interval_s = 1;
  double disconnect_grace_s = 5;  ///< time after which steps of a lost connection are cancelled
  /// For `health`. Called by a worker every reap interval.
  std::function<ServerProblems()> problems;
  double linger_s = 2;                ///< time at the end to send queued replies
  std::int64_t retry_after_ms = 200;  ///< in BUSY, when nothing waits; longer with the queue
};

}  // namespace hone
