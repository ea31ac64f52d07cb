// Strangers: limits for connections that have not completed a handshake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

namespace hone {

/// Tracks connections and closes those over the limits. One thread. /// /// Rationale: if the newest connection were refused, an attacker with many silent connections could block all clients. So the oldest silent connection is closed: an honest client completes its handshake within milliseconds.
class Strangers {
 public:
  struct Limits {
    std::size_t open_max = 0;     ///< all connections; beyond it the newest is closed
    std::size_t waiting_max = 0;  ///< silent connections; beyond it the oldest is closed
  };
  /// Whether a connection has sent fewer bytes than a handshake needs.
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
    std::uint64_t number = 0;  // descriptor numbers are reused
    std::string endpoint;
  };

  const Limits limits_;
  const Silent silent_;
  const HangUp hang_up_;
  std::uint64_t numbers_ = 0;
  std::unordered_map<int, Connection> open_;
  std::deque<std::pair<int, std::uint64_t>> newest_;  // the last waiting_max, oldest first
};

/// Number of connections that a server serves with this open-file limit. Half of the files are for other purposes.
std::size_t connections_within(std::size_t descriptors);

/// Whether a TCP connection of this process has received fewer than `bytes_min` bytes. False for other descriptors.
bool has_sent_less(int descriptor, std::size_t bytes_min);

/// Shuts down a TCP connection of this process if its local end is `endpoint` ("tcp://127.0.0.1:5917"). True if it did.
bool shut_down_connection(int descriptor, const std::string& endpoint);

}  // namespace hone
