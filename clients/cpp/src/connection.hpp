// Connection: the client's side of a server: two channels, the server's terms, and the open episodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "channel.hpp"
#include "hone/client.hpp"
#include "roster.hpp"

namespace hone::inline client_api {

/// The server's intervals and limits, from its reply to hello.
struct ServerTerms {
  std::string incarnation;  ///< differs after a restart of the server
  double heartbeat_s = 5;
  double lease_s = 60;
  std::size_t in_flight_max = SIZE_MAX;
  std::size_t frame_bytes_max = SIZE_MAX;
  std::size_t judged_bytes_max = SIZE_MAX;  ///< the server rejects longer submissions

  double beat_s() const { return std::min(heartbeat_s, lease_s / 3); }
};
/// Lenient: a member that is missing or of another type gets its default. If the reply has no limits, those of `before` remain.
ServerTerms read_terms(const Value& hello, const ServerTerms& before);

struct Connection {
  explicit Connection(const std::string& endpoint, const std::string& control_endpoint)
      : main(endpoint), control(control_endpoint) {}

  Channel& channel_of(const Request& request) {
    return request.control && !control.endpoint().empty() ? control : main;
  }
  std::array<Channel*, 2> channels() { return {&main, &control}; }

  Channel main, control;
  ServerTerms terms;
  Roster roster;
};

}  // namespace hone::inline client_api
