// What a server can be told. The configuration fills it in.
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

struct ServerOptions {
  std::string endpoint = "tcp://127.0.0.1:5917";
  std::string control_endpoint =
      "tcp://127.0.0.1:5918";  ///< empty: none; the main one then serves its verbs

  /// Folder of keys (keys.hpp). With it both endpoints are encrypted and serve the clients of its
  /// allow-list alone, anywhere; empty: neither, and on loopback alone.
  std::string keys;

  wire::Limits limits;
  std::size_t source_bytes_max = 1u << 20;    ///< published in hello; the environment enforces it
  std::size_t response_bytes_max = 1u << 20;  ///< published in hello; the environment enforces it
  std::size_t episodes_max = 100000;          ///< published in hello; the service enforces it
  std::size_t in_flight_max = 4096;           ///< requests of one connection without their reply
  std::size_t queue_max = 1024;               ///< describes and resets waiting for a worker
  std::size_t workers = 2;  ///< threads for describe and reset, which may load from disk
  std::size_t connections_max = kConnectionsMax;  ///< of one endpoint, that have sent a message

  // Before anybody has said who it is. Small constants; tests alone change them.
  int handshake_ms = 0;  ///< time limit of a handshake; 0: 5000 with keys, 30000 without
  std::size_t strangers_max =
      0;  ///< newest connections that may be silent; older silent ones are closed.
          ///< 0: 256 with keys; 8192 without, where all come from this machine
  std::size_t sockets_max =
      kConnectionsMax + kConnectionsMax / 8;  ///< accepted; at most half the open-file limit

  std::size_t outbox_bytes_max = 32u << 20;  ///< replies kept for a connection that does not read
  double stalled_s_max = 60;                 ///< how long it may not read
  int hwm = 256;                             ///< messages in ZeroMQ's own queue per connection

  double heartbeat_s = 10;
  double deadline_grace_s =
      0.5;  ///< how long after its deadline a request is answered by the server itself
  double reap_interval_s = 1;
  double disconnect_grace_s = 5;  ///< steps of a lost connection go on for this long
  /// Reasons why steps cannot be done now, for `health`. Called by a worker every reap interval.
  std::function<std::vector<std::string>()> problems;
  double linger_s = 2;                ///< at the end, for replies that are under way
  std::int64_t retry_after_ms = 200;  ///< in BUSY, when nothing waits; longer with the queue
};

}  // namespace hone
