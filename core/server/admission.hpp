// Admission: decides whether a message becomes a request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/doors.hpp"
#include "server/in_flight.hpp"
#include "server/metrics.hpp"
#include "server/options.hpp"
#include "server/replies.hpp"
#include "server/shutdown.hpp"

namespace hone {

/// Belongs to the I/O thread. Answers each message that it does not admit.
class Admission {
 public:
  Admission(const ServerOptions& options, Doors& doors, RequestsInFlight& requests,
            Replies& replies, Metrics& metrics, const Shutdown& shutdown);

  /// The request, which is in flight from now on.
  std::optional<VerbCall> admit(Peers& peers, const std::string& routing_id, const std::string& key,
                                wire::Incoming message);

 private:
  void turn_away_stranger(Peers& peers, const std::string& routing_id, wire::Incoming message,
                          bool full);
  Result<Verb> check(const Peer& peer, wire::Request& request);
  static Status permitted(const Peer& peer, Verb verb);

  const ServerOptions& options_;
  Doors& doors_;
  RequestsInFlight& requests_;
  Replies& replies_;
  Metrics& metrics_;
  const Shutdown& shutdown_;
  std::int64_t full_logged_ns_ = 0;  // time of the last logged message that the server is full
};

}  // namespace hone
