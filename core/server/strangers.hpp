// Strangers: connections that have not shown yet that they speak the protocol, and their limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

namespace hone {

/// What a connection may cost before it is known who it is. One thread.
///
/// Rationale: a cap that turns the newest away lets whoever holds silent connections keep everybody
/// out. So the oldest silent one goes: a client needs milliseconds for its handshake, and by then
/// few strangers have come after it.
class Strangers {
 public:
  struct Limits {
    std::size_t open_max = 0;     ///< all connections; beyond it the newest is closed
    std::size_t waiting_max = 0;  ///< newest ones that may be silent; older silent ones are closed
  };
  /// Whether a connection has sent too little to be through a handshake.
  using Silent = std::function<bool(int descriptor)>;
  /// Ends a connection. Its gone() comes later.
  using HangUp = std::function<void(int descriptor, const std::string& endpoint)>;

  Strangers(Limits limits, Silent silent, HangUp hang_up)
      : limits_(limits), silent_(std::move(silent)), hang_up_(std::move(hang_up)) {}

  void accepted(int descriptor, const std::string& endpoint);
  void gone(int descriptor);
  std::size_t open() const { return open_.size(); }
  const Limits& limits() const { return limits_; }
  /// How many of `open_max` open connections are served; the others are answered BUSY.
  static std::size_t served_of(std::size_t open_max);

 private:
  struct Connection {
    std::uint64_t number = 0;  // descriptors come again
    std::string endpoint;
  };

  const Limits limits_;
  const Silent silent_;
  const HangUp hang_up_;
  std::uint64_t numbers_ = 0;
  std::unordered_map<int, Connection> open_;
  std::deque<std::pair<int, std::uint64_t>> newest_;  // the last waiting_max, oldest first
};

/// How many connections a server with this open-file limit serves. Half of the files are for the rest of the server.
std::size_t connections_within(std::size_t descriptors);

/// Of a TCP connection of this process: whether fewer than `bytes_min` bytes have come. False for
/// anything else.
bool has_sent_less(int descriptor, std::size_t bytes_min);

/// Shuts a TCP connection of this process down if `endpoint` ("tcp://127.0.0.1:5917") is its own end.
/// True: it was.
bool shut_down_connection(int descriptor, const std::string& endpoint);

}  // namespace hone
