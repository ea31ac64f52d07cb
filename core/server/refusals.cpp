// The part of IoLoop that refuses requests.
#include <algorithm>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "server/io_loop.hpp"

namespace hone {
namespace {

constexpr std::int64_t kRetryAfterMsMax = 5000;
// Rationale: refused clients retry and must not fill the log.
constexpr std::int64_t kSayFullAgainNs = 60'000'000'000;

}  // namespace

/// Sends one reply without storing anything about the client.
void IoLoop::turn_away(Peers& peers, const std::string& routing_id, wire::Incoming message,
                       bool full) {
  Peer stranger;
  stranger.routing_id = routing_id;
  const auto request = wire::decode_request(std::move(message), options_.limits);
  const auto* readable = std::get_if<wire::Request>(&request);
  const Error error = resource_exhausted(
      full ? "the server has " + std::to_string(keeper_->counts().open) + " connections, at most " +
                 keeper_->limit_text() + " allowed"
           : "the server has " + std::to_string(peers.size()) + " busy connections, at most " +
                 std::to_string(options_.connections_max) + " allowed");
  ++metrics_.busy;
  const std::int64_t now_ns = monotonic_ns();
  if (full_logged_ns_ == 0 || now_ns - full_logged_ns_ > kSayFullAgainNs) {
    full_logged_ns_ = now_ns;
    log_warning("server", error.message + "; new clients are answered BUSY");
  }
  peers.send_unqueued(stranger, wire::encode_reply({wire::ReplyKind::kError,
                                                    readable != nullptr ? readable->id : -1,
                                                    readable != nullptr ? readable->verb : "",
                                                    packed_error(error),
                                                    {}}));
}

/// Replies without storing anything: a client with a revoked key is unknown.
void IoLoop::refuse_revoked(Peers& peers, Peer& peer,
                            const std::variant<wire::Request, wire::Refusal>& message) {
  const auto* request = std::get_if<wire::Request>(&message);
  const Error error = failed_precondition("the key of this client" +
                                          (peer.caller.client == peer.caller.connection
                                               ? std::string()
                                               : ", '" + peer.caller.client + "',") +
                                          " was revoked");
  metrics_.answered(Verb::kUnknown, error.code, 0);
  peers.send_unqueued(peer, wire::encode_reply({wire::ReplyKind::kError,
                                                request != nullptr ? request->id : -1,
                                                request != nullptr ? request->verb : "",
                                                to_msgpack(to_value(wire::error_body(error, 0))),
                                                {}}));
}

/// Replies to a message that did not become a request in flight.
void IoLoop::refuse(const std::shared_ptr<Peer>& peer, std::int64_t id, std::string verb,
                    const Error& error) {
  metrics_.answered(Verb::kUnknown, error.code, 0);
  peers_of(*peer).send(
      peer,
      wire::encode_reply({wire::ReplyKind::kError, id, std::move(verb), packed_error(error), {}}));
}

std::string IoLoop::packed_error(const Error& error) const {
  wire::ErrorBody body = wire::error_body(error, retry_after_ms());
  body.shutting_down = draining_ && error.code == Code::kUnavailable;
  return to_msgpack(to_value(body));
}

std::int64_t IoLoop::retry_after_ms() const {
  const auto waiting = static_cast<std::int64_t>(workers_.waiting() + service_.pending());
  return std::min(options_.retry_after_ms + 10 * waiting, kRetryAfterMsMax);
}

}  // namespace hone
