// RequestsInFlight: the requests without a reply, and the times at which the server ends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "server/peers.hpp"

namespace hone {

/// Belongs to the I/O thread. Times are monotonic nanoseconds.
///
/// Rationale: a request has a serial number in addition to the id of the client, because a client may use an id again after its reply. A late reply must not end the later request.
class RequestsInFlight {
 public:
  /// Returns the serial number. `overdue_ns`: the time at which the server ends the request; 0: never.
  std::uint64_t begin(const std::shared_ptr<Peer>& peer, std::int64_t id, Verb verb,
                      std::int64_t now_ns, std::int64_t overdue_ns);
  /// nullptr if the request has been answered.
  static InFlight* find(Peer& peer, std::int64_t id, std::uint64_t serial);
  /// Removes the request; nullopt if it has been answered.
  std::optional<InFlight> end(Peer& peer, std::int64_t id, std::uint64_t serial);

  struct Overdue {
    std::shared_ptr<Peer> peer;
    std::int64_t id = 0;
    std::uint64_t serial = 0;
    Verb verb = kUnknownVerb;
  };
  /// The next request that is over its deadline. Each is returned once; the caller ends it.
  std::optional<Overdue> take_overdue(std::int64_t now_ns);
  std::int64_t next_overdue_ns() const;  ///< INT64_MAX: none
  std::size_t count() const { return count_; }

 private:
  struct Timer {
    std::weak_ptr<Peer> peer;
    std::int64_t id = 0;
  };
  std::uint64_t serials_ = 0;
  std::size_t count_ = 0;
  std::map<std::pair<std::int64_t, std::uint64_t>, Timer> timers_;  // by time and serial
};

}  // namespace hone
