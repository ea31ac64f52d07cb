// Which messages become requests.
#include "server/admission.hpp"

#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

// Rationale: refused clients retry and must not fill the log.
constexpr std::int64_t kSayFullAgainNs = 60'000'000'000;

/// A routing id from ZeroMQ is a zero byte and four more bytes; one that a client sets never begins with zero.
bool chosen_by_client(const std::string& routing_id) {
  return routing_id.empty() || routing_id.front() != '\0';
}

Error revoked_key(const Caller& caller) {
  const bool has_name = caller.client != caller.connection;
  return failed_precondition("the key of this client" +
                             (has_name ? ", '" + caller.client + "'," : std::string()) +
                             " was revoked");
}

}  // namespace

Admission::Admission(const ServerOptions& options, Doors& doors, RequestsInFlight& requests,
                     Replies& replies, Metrics& metrics, const Shutdown& shutdown)
    : options_(options),
      doors_(doors),
      requests_(requests),
      replies_(replies),
      metrics_(metrics),
      shutdown_(shutdown) {}

std::optional<VerbCall> Admission::admit(Peers& peers, const std::string& routing_id,
                                         const std::string& key, wire::Incoming message) {
  const bool full = doors_.full(peers);
  const std::shared_ptr<Peer> peer = peers.get(routing_id, key, monotonic_ns(), !full);
  if (peer == nullptr) {
    turn_away_stranger(peers, routing_id, std::move(message), full);
    return std::nullopt;
  }
  if (peer->client) metrics_.heard(peer->client->name, message.bytes);
  auto decoded = wire::decode_request(std::move(message), options_.limits);
  auto* request = std::get_if<wire::Request>(&decoded);
  if (peers.revoked(*peer)) {
    const Error error = revoked_key(peer->caller);
    metrics_.answered(kUnknownVerb, error.code, 0);
    replies_.turn_away(peers, *peer, request != nullptr ? request->id : -1,
                       request != nullptr ? request->verb : "", error);
    return std::nullopt;
  }
  if (request == nullptr) {
    const auto& refusal = std::get<wire::Refusal>(decoded);
    ++metrics_.malformed;
    // Rationale: with an id in flight, the client would take this error for the end of that request.
    const bool taken = peer->in_flight.count(refusal.id) != 0;
    replies_.refuse(peer, taken ? -1 : refusal.id, refusal.verb, refusal.error);
    return std::nullopt;
  }
  if (peer->in_flight.count(request->id) != 0) {
    replies_.refuse(peer, -1, request->verb,
                    invalid_argument("header/id: " + std::to_string(request->id) +
                                     " is already in flight; use a new id for each request"));
    return std::nullopt;
  }
  if (peer->dropped) {
    replies_.turn_away(peers, *peer, request->id, request->verb,
                       unavailable("replies to this connection were dropped because it did not "
                                   "read them; connect again and resume"));
    return std::nullopt;
  }
  const Result<Verb> verb = check(*peer, *request);
  if (!verb) {
    replies_.refuse(peer, request->id, request->verb, verb.error());
    return std::nullopt;
  }
  VerbCall call{peer, request->id, 0, *verb, 0, std::move(request->body)};
  const std::int64_t now_ns = monotonic_ns();
  std::int64_t overdue_ns = 0;
  if (request->deadline_ms) {
    call.deadline_ns = now_ns + *request->deadline_ms * 1'000'000;
    overdue_ns = call.deadline_ns + static_cast<std::int64_t>(options_.deadline_grace_s * 1e9);
  }
  call.serial = requests_.begin(peer, call.id, call.verb, now_ns, overdue_ns);
  return call;
}

/// Also replaces references to raw frames in the body.
Result<Verb> Admission::check(const Peer& peer, wire::Request& request) {
  if (chosen_by_client(peer.routing_id)) {
    return invalid_argument(
        "connection: found a routing id of the client's own, expected none; do not set "
        "ZMQ_ROUTING_ID");
  }
  if (shutdown_.has_begun() && peer.door == Door::kMain && peer.since_ns > shutdown_.since_ns())
    return unavailable("the server is shutting down and takes no new connections");
  HONE_ASSIGN(const Verb verb,
              parse_verb(request.verb, peer.door, doors_.endpoint(), doors_.control_endpoint()));
  HONE_TRY(permitted(peer, verb));
  HONE_TRY(place_buffers(verb, request.body, std::move(request.buffers)));
  if (peer.in_flight.size() >= options_.in_flight_max) {
    return resource_exhausted("this connection has " + std::to_string(peer.in_flight.size()) +
                              " requests in flight, at most " +
                              std::to_string(options_.in_flight_max) + " allowed");
  }
  return verb;
}

Status Admission::permitted(const Peer& peer, Verb verb) {
  if (peer.client == nullptr || peer.client->role == ClientRole::kTrainer ||
      verb_row(verb).facts().is_read_only)
    return {};
  std::string looking;
  for (const wire::VerbFacts& one : wire::AllRequests::kVerbs) {
    if (one.is_read_only) looking += (looking.empty() ? "" : ", ") + std::string(one.name);
  }
  return failed_precondition("client '" + peer.client->name +
                             "' has the role monitor, which may not " +
                             std::string(verb_name(verb)) + "; it has " + looking);
}

/// Sends one reply without storing anything about the client.
void Admission::turn_away_stranger(Peers& peers, const std::string& routing_id,
                                   wire::Incoming message, bool full) {
  Peer stranger;
  stranger.routing_id = routing_id;
  const auto decoded = wire::decode_request(std::move(message), options_.limits);
  const auto* request = std::get_if<wire::Request>(&decoded);
  const Error error = resource_exhausted(
      full ? "the server has " + std::to_string(doors_.counts().open) + " connections, at most " +
                 doors_.limit_text() + " allowed"
           : "the server has " + std::to_string(peers.size()) + " busy connections, at most " +
                 std::to_string(options_.connections_max) + " allowed");
  ++metrics_.busy;
  const std::int64_t now_ns = monotonic_ns();
  if (full_logged_ns_ == 0 || now_ns - full_logged_ns_ > kSayFullAgainNs) {
    full_logged_ns_ = now_ns;
    log_warning("server", error.message + "; new clients are answered BUSY");
  }
  replies_.turn_away(peers, stranger, request != nullptr ? request->id : -1,
                     request != nullptr ? request->verb : "", error);
}

}  // namespace hone
