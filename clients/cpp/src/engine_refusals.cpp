// The client's thread: failed connections, errors that a retry cannot fix, and the time limit of reconnection.
#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string_view>

#include "base/clock.hpp"
#include "engine.hpp"
#include "greeting.hpp"

namespace hone::inline client_api {
namespace {

constexpr int kGreetingMs = 500;  // while the client's thread does nothing else

std::string seconds_text(std::int64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return text;
}

/// The host of "tcp://HOST:PORT" if it is a name; empty if it is an address, or for other transports.
std::string host_name(const std::string& endpoint) {
  constexpr std::string_view kTcp = "tcp://";
  if (!endpoint.starts_with(kTcp)) return "";
  const std::string host = endpoint.substr(kTcp.size(), endpoint.rfind(':') - kTcp.size());
  in_addr v4{};
  const bool address = host.starts_with('[') || inet_pton(AF_INET, host.c_str(), &v4) == 1;
  return address ? "" : host;
}

}  // namespace

void Engine::on_link_event(Channel& channel, Link::Event event) {
  switch (event) {
    case Link::Event::kNone:
      return;
    case Link::Event::kUp:
      if (&channel == &main_) return greet();
      channel.away_ns = 0;
      return enter(channel, State::kReady);
    case Link::Event::kHandshakeFailed:
      if (wants_another_mechanism(channel)) return refused(channel, Link::Event::kOtherMechanism);
      break;
    case Link::Event::kKeyRefused:
    case Link::Event::kOtherMechanism:
      return refused(channel, event);
    case Link::Event::kUnresolved:
    case Link::Event::kUnanswered: {
      MutexLock lock(mutex_);
      unresolved_ = event == Link::Event::kUnresolved;
      return;
    }
    case Link::Event::kDown:
      break;
  }
  lose_connection(channel);
}

std::string Engine::why_unanswered() const {
  if (handshakes_failed_ > 0) {
    // A server with another mechanism has been ruled out (wants_another_mechanism).
    return std::to_string(handshakes_failed_) +
           " handshakes failed; check that a hone server listens there" +
           (keys_ ? " with the server key of this client's key file" : "") +
           ", and that its log reports no limit of connections or open files";
  }
  const std::string name = host_name(endpoint_);
  if (unresolved_ && !name.empty()) {
    return "the host name '" + name +
           "' does not resolve; check its spelling, or the name service: getent hosts " + name;
  }
  return "check that `hone serve` runs there";
}

/// Whether the server uses another security mechanism. Checked at failures 1, 2, 4, 8, …
bool Engine::wants_another_mechanism(const Channel& channel) {
  std::size_t failed = 0;
  {
    MutexLock lock(mutex_);
    failed = ++handshakes_failed_;
  }
  if (!std::has_single_bit(failed)) return false;
  const std::string mechanism = mechanism_of(channel.endpoint, kGreetingMs);
  return !mechanism.empty() && mechanism != (keys_ ? "CURVE" : "NULL");
}

/// Fails for good: a retry cannot help until a key or a configuration changes.
void Engine::refused(Channel& channel, Link::Event event) {
  lose_connection(channel);
  Failure failure{Code::kFailedPrecondition, "protocol", "", false, {}};
  if (event == Link::Event::kKeyRefused) {
    failure.message =
        "the server refused this client's key: it is not in the server's allow-list, or was "
        "revoked; "
        "check it there with `hone keys list`";
  } else {
    failure.message = keys_ ? "the server runs without keys, but this client has one; remove it, "
                              "or start the server with --keys"
                            : "the server requires a key, but this client has none; create one "
                              "with `hone keys new NAME`";
  }
  if (&channel == &main_) return fail_for_good(failure);
  for (const auto& request : std::exchange(channel.waiting, {})) finish(request, {{}, failure});
}

/// Counts a lost connection. Rationale: the time limit is the same for a server that returns each time and for one that stays away.
bool Engine::lost_too_often(Request& request) const {
  const std::int64_t now = monotonic_ns();
  if (request.losses++ == 0) request.lost_ns = now;
  const double limit_s = options_.reconnect_timeout_s;
  return limit_s > 0 && request.losses >= options_.connection_losses_max &&
         static_cast<double>(now - request.lost_ns) >= limit_s * 1e9;
}

Failure Engine::always_lost(const Channel& channel, const Request& request) {
  return {Code::kUnavailable,
          "infra",
          subject(request) + ": the connection to " + channel.endpoint + " was lost " +
              std::to_string(request.losses) + " times within " +
              seconds_text(monotonic_ns() - request.lost_ns) +
              " while it was under way (reconnect_timeout)",
          true,
          {}};
}

/// The server is shutting down and did not do this request: it waits for the next server, as after a crash.
void Engine::wait_for_next_server(Channel& channel, const RequestPtr& request) {
  // The server may have done it nevertheless if it had begun.
  request->resent |= request->accepted || begins_episode(request->verb);
  request->accepted = false;
  const auto later = std::find_if(channel.waiting.begin(), channel.waiting.end(),
                                  [&](const RequestPtr& one) { return one->id > request->id; });
  channel.waiting.insert(later, request);
  note_shutdown(channel);
}

void Engine::note_shutdown(Channel& channel) {
  channel.shutting_down = true;
  if (channel.away_ns == 0) channel.away_ns = monotonic_ns();
  if (channel.state == State::kReady) enter(channel, State::kLeaving);
}

/// Whether the leaving server has no more replies to send.
bool Engine::has_left(const Channel& channel) const {
  return channel.state == State::kLeaving &&
         std::all_of(channel.in_flight.begin(), channel.in_flight.end(),
                     [](const auto& entry) { return entry.second->internal; });
}

/// When what waits for the channel fails because no server is there.
std::int64_t Engine::given_up_at(const Channel& channel) const {
  const double limit_s = options_.reconnect_timeout_s;
  if (channel.away_ns == 0 || !(limit_s > 0) || limit_s > 1e9) return INT64_MAX;
  return channel.away_ns + static_cast<std::int64_t>(limit_s * 1e9);
}

void Engine::fail_without_server(Channel& channel, std::int64_t now) {
  for (const auto& request : std::exchange(channel.waiting, {})) {
    finish(request, {{},
                     Failure{Code::kUnavailable,
                             "infra",
                             subject(*request) + ": no server at " + channel.endpoint + " for " +
                                 seconds_text(now - channel.away_ns) + " (reconnect_timeout)" +
                                 (channel.shutting_down ? ", the last one shut down" : ""),
                             true,
                             {}}});
  }
}

void Engine::fail_for_good(const Failure& failure) {
  {
    MutexLock lock(mutex_);
    fatal_ = failure;
    greeted_changed_.notify_all();
  }
  main_.link.reset();
  enter(main_, State::kFailed);
  for (const auto& request : std::exchange(main_.waiting, {})) finish(request, {{}, failure});
}

}  // namespace hone::inline client_api
