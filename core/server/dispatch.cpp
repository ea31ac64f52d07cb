// The part of IoLoop that knows the protocol: passes requests to the service and replies to clients.
#include <algorithm>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "hone/version.h"
#include "model/fields.hpp"
#include "server/io_loop.hpp"

namespace hone {
namespace {

/// A routing id from ZeroMQ is a zero byte and four more bytes; one that a client sets never begins with zero.
bool chosen_by_client(const std::string& routing_id) {
  return routing_id.empty() || routing_id.front() != '\0';
}

Result<std::string> packed(Result<Value> value) {
  if (!value) return value.error();
  return to_msgpack(*value);
}

double seconds_left(std::int64_t deadline_ns) {
  if (deadline_ns == 0) return 0;
  return std::max(1e-3, static_cast<double>(deadline_ns - monotonic_ns()) * 1e-9);
}

Error too_late(Verb verb) {
  return {Code::kDeadlineExceeded,
          std::string(verb_name(verb)) + ": not done by its deadline; send the same request again"};
}

}  // namespace

void IoLoop::handle(Peers& peers, const std::string& routing_id, const std::string& key,
                    wire::Incoming message) {
  // The control endpoint stays open, so that an operator can inspect a full server.
  const bool full = &peers == main_.get() && keeper_->full();
  const std::shared_ptr<Peer> peer = peers.get(routing_id, key, monotonic_ns(), !full);
  if (peer == nullptr) return turn_away(peers, routing_id, std::move(message), full);
  if (peer->client) metrics_.heard(peer->client->name, message.bytes);
  auto decoded = wire::decode_request(std::move(message), options_.limits);
  if (peers.revoked(*peer)) return refuse_revoked(peers, *peer, decoded);
  if (auto* refusal = std::get_if<wire::Refusal>(&decoded)) {
    ++metrics_.malformed;
    // Rationale: with an id in flight, the client would take this error for the end of that request.
    const bool taken = peer->in_flight.count(refusal->id) != 0;
    return refuse(peer, taken ? -1 : refusal->id, refusal->verb, refusal->error);
  }
  admit(peers, peer, std::move(std::get<wire::Request>(decoded)));
}

void IoLoop::admit(Peers& peers, const std::shared_ptr<Peer>& peer, wire::Request request) {
  if (peer->in_flight.count(request.id) != 0) {
    return refuse(peer, -1, std::move(request.verb),
                  invalid_argument("header/id: " + std::to_string(request.id) +
                                   " is already in flight; use a new id for each request"));
  }
  if (peer->dropped) {
    const Error lost = unavailable(
        "replies to this connection were dropped because it did not read them; connect again and "
        "resume");
    peers.send_unqueued(*peer, wire::encode_reply({wire::ReplyKind::kError,
                                                   request.id,
                                                   request.verb,
                                                   to_msgpack(to_value(wire::error_body(lost, 0))),
                                                   {}}));
    return;
  }
  if (chosen_by_client(peer->routing_id)) {
    return refuse(peer, request.id, std::move(request.verb),
                  invalid_argument("connection: found a routing id of the client's own, expected "
                                   "none; do not set ZMQ_ROUTING_ID"));
  }
  if (draining_ && peer->door == Door::kMain && peer->since_ns > draining_since_ns_) {
    return refuse(peer, request.id, std::move(request.verb),
                  unavailable("the server is shutting down and takes no new connections"));
  }
  const auto verb = parse_verb(request.verb, peer->door, endpoint_, control_endpoint_);
  if (!verb) return refuse(peer, request.id, std::move(request.verb), verb.error());
  if (const Status may = permitted(*peer, *verb); !may) {
    return refuse(peer, request.id, std::move(request.verb), may.error());
  }
  if (Status placed = place_buffers(*verb, request.body, std::move(request.buffers)); !placed) {
    return refuse(peer, request.id, std::move(request.verb), placed.error());
  }
  if (peer->in_flight.size() >= options_.in_flight_max) {
    ++metrics_.busy;
    return refuse(
        peer, request.id, std::move(request.verb),
        resource_exhausted("this connection has " + std::to_string(peer->in_flight.size()) +
                           " requests in flight, at most " +
                           std::to_string(options_.in_flight_max) + " allowed"));
  }
  VerbCall call{peer, request.id, ++serials_, *verb, 0, std::move(request.body)};
  const std::int64_t now_ns = monotonic_ns();
  InFlight entry{call.verb, call.serial, now_ns};
  if (request.deadline_ms) {
    call.deadline_ns = now_ns + *request.deadline_ms * 1'000'000;
    entry.overdue_ns =
        call.deadline_ns + static_cast<std::int64_t>(options_.deadline_grace_s * 1e9);
    overdue_[{entry.overdue_ns, call.serial}] = {peer, call.id};
  }
  peer->in_flight[call.id] = entry;
  ++in_flight_;
  serve(std::move(call));
}

Status IoLoop::permitted(const Peer& peer, Verb verb) {
  if (peer.client == nullptr || peer.client->role == ClientRole::kTrainer || only_looks(verb))
    return {};
  return failed_precondition(
      "client '" + peer.client->name + "' has the role monitor, which may not " +
      std::string(verb_name(verb)) + "; it has hello, ping, describe, metrics and health");
}

void IoLoop::serve(VerbCall call) {
  const auto& handler = verb_row(call.verb).handler;
  if (const auto* here = std::get_if<OnIoThread>(&handler))
    return finish(call.peer, call.id, call.serial, packed(here->serve(*this, call)));
  if (const auto* worker = std::get_if<OnWorker>(&handler))
    return serve_by_worker(std::move(call), *worker);
  std::get<ByService>(handler).serve(*this, std::move(call));
}

/// Sends no `accepted` if the reply is ready when the call returns.
void IoLoop::serve_step(VerbCall call) {
  service_.step(call.peer->caller, call.body, seconds_left(call.deadline_ns), progress_of(call),
                reply_to(call));
  take_events();
  const auto found = call.peer->in_flight.find(call.id);
  if (found == call.peer->in_flight.end() || found->second.serial != call.serial) return;
  if (found->second.accepted) return;
  found->second.accepted = true;
  peers_of(*call.peer)
      .send(call.peer,
            wire::encode_reply(
                {wire::ReplyKind::kAccepted, call.id, "step", to_msgpack(Value::map()), {}}));
}

void IoLoop::serve_by_worker(VerbCall call, const OnWorker& worker) {
  auto job = [this, serve = worker.serve, caller = call.peer->caller, verb = call.verb,
              deadline_ns = call.deadline_ns, body = call.body, reply = reply_to(call)] {
    if (deadline_ns != 0 && monotonic_ns() > deadline_ns) return reply(too_late(verb));
    serve(service_, caller, body, reply);
  };
  if (workers_.submit(std::move(job))) return;
  ++metrics_.busy;
  finish(call.peer, call.id, call.serial,
         resource_exhausted("the queue of " + std::to_string(options_.queue_max) +
                            " requests is full"));
}

Result<Value> IoLoop::hello(const VerbCall& call) {
  HONE_ASSIGN(wire::Hello greeting, wire::read_hello(call.body));
  // With CURVE, the key decides the client's name.
  const Caller& caller = call.peer->caller;
  if (!greeting.client.empty() && !caller.proven) {
    call.peer->caller.client = std::move(greeting.client);
  }
  wire::Welcome welcome;
  welcome.server = "hone " HONE_VERSION_STRING;
  welcome.incarnation = incarnation_;
  welcome.verbs = verb_names();
  welcome.control = control_endpoint_;
  welcome.heartbeat_s = options_.heartbeat_s;
  welcome.limits = options_.limits;
  if (call.peer->client) {
    welcome.client = call.peer->client->name;
    welcome.role = role_name(call.peer->client->role);
  }
  welcome.source_bytes = options_.source_bytes_max;
  welcome.response_bytes = options_.response_bytes_max;
  welcome.in_flight = options_.in_flight_max;
  welcome.episodes = options_.episodes_max;
  welcome.capabilities = service_.capabilities();
  return to_value(welcome);
}

Result<Value> IoLoop::ping(const VerbCall& call) {
  Fields fields(call.body, "ping");
  static_cast<void>(fields.texts_or("episodes", {}));
  HONE_TRY(fields.finish());
  if (const Value* episodes = call.body.find("episodes")) {
    service_.renew(call.peer->caller, *episodes);
  }
  return Value::map({{"incarnation", incarnation_}, {"time", utc_now()}});
}

Result<Value> IoLoop::metrics(const VerbCall& call) {
  Fields fields(call.body, "metrics");
  const std::string format = fields.choice_or("format", "map", {"map", "prometheus"});
  HONE_TRY(fields.finish());
  metrics_.reaped = reaped_;
  metrics_.steps_dropped = steps_dropped_;
  const Doorkeeper::Counts door = keeper_->counts();
  metrics_.keys_refused = door.keys_refused;
  metrics_.handshakes_failed = door.handshakes_failed;
  metrics_.hung_up = door.hung_up;
  if (format == "prometheus") {
    return Value::map({{"text", metrics_.to_prometheus(gauges(), service_.stats())}});
  }
  return Value::map({{"metrics", metrics_.to_value(gauges(), service_.stats())}});
}

Result<Value> IoLoop::health(const VerbCall& call) {
  HONE_TRY(Fields(call.body, "health").finish());
  const Gauges now = gauges();
  Value problems = Value::array();
  {
    MutexLock lock(problems_mutex_);
    for (const std::string& one : problems_) problems.push(one);
  }
  const bool failing = !problems.as_array().empty();
  return Value::map({{"status", draining_ ? "draining"
                                : failing ? "failing"
                                          : "serving"},
                     {"problems", std::move(problems)},
                     {"incarnation", incarnation_},
                     {"uptime_s", now.uptime_s},
                     {"steps", service_.pending()},
                     {"in_flight", now.in_flight},
                     {"connections", now.connections},
                     {"queue", now.queue}});
}

EpisodeService::Reply IoLoop::reply_to(const VerbCall& call) const {
  return [events = events_, peer = call.peer, id = call.id,
          serial = call.serial](Result<std::string> body) {
    events->push({peer, id, serial, true, std::move(body)});
  };
}

EpisodeService::Progress IoLoop::progress_of(const VerbCall& call) const {
  return [events = events_, peer = call.peer, id = call.id, serial = call.serial](Value body) {
    events->push({peer, id, serial, false, to_msgpack(body)});
  };
}

void IoLoop::handle_event(Event event) {
  if (event.last) return finish(event.peer, event.id, event.serial, std::move(event.body));
  const auto found = event.peer->in_flight.find(event.id);
  if (found == event.peer->in_flight.end() || found->second.serial != event.serial) return;
  Peers& peers = peers_of(*event.peer);
  const std::string verb(verb_name(found->second.verb));
  if (!found->second.accepted) {
    found->second.accepted = true;
    peers.send(event.peer,
               wire::encode_reply(
                   {wire::ReplyKind::kAccepted, event.id, verb, to_msgpack(Value::map()), {}}));
  }
  found->second.progress = std::move(event.body).value();
  peers.send(
      event.peer,
      wire::encode_reply({wire::ReplyKind::kProgress, event.id, verb, found->second.progress, {}}));
}

void IoLoop::finish(const std::shared_ptr<Peer>& peer, std::int64_t id, std::uint64_t serial,
                    Result<std::string> body) {
  const auto found = peer->in_flight.find(id);
  if (found == peer->in_flight.end() || found->second.serial != serial) {
    ++metrics_.late;
    return;
  }
  const InFlight request = found->second;
  peer->in_flight.erase(found);
  if (request.overdue_ns != 0) overdue_.erase({request.overdue_ns, serial});
  --in_flight_;
  const Code code = body ? Code::kOk : body.error().code;
  metrics_.answered(request.verb, code,
                    static_cast<double>(monotonic_ns() - request.started_ns) * 1e-9);
  if (peer->client) metrics_.answered_client(peer->client->name, code);
  wire::Reply reply{body ? wire::ReplyKind::kResult : wire::ReplyKind::kError,
                    id,
                    std::string(verb_name(request.verb)),
                    {},
                    {}};
  reply.body = body ? std::move(*body) : packed_error(body.error());
  if (code == Code::kInternal) log_error("server", reply.verb + ": " + body.error().message);
  peers_of(*peer).send(peer, wire::encode_reply(std::move(reply)));
}

/// Ends requests that the service has not answered at their deadlines.
void IoLoop::end_overdue(std::int64_t now_ns) {
  while (!overdue_.empty() && overdue_.begin()->first.first <= now_ns) {
    const std::uint64_t serial = overdue_.begin()->first.second;
    const Overdue due = overdue_.begin()->second;
    overdue_.erase(overdue_.begin());
    const std::shared_ptr<Peer> peer = due.peer.lock();
    if (peer == nullptr) continue;
    const auto found = peer->in_flight.find(due.id);
    if (found == peer->in_flight.end() || found->second.serial != serial) continue;
    ++metrics_.deadlines;
    finish(peer, due.id, serial, too_late(found->second.verb));
  }
}

Gauges IoLoop::gauges() const {
  Gauges gauges;
  gauges.connections = main_->size() + (control_ ? control_->size() : 0);
  gauges.sockets = keeper_->counts().open;
  gauges.in_flight = in_flight_;
  gauges.queue = workers_.waiting();
  gauges.outbox_bytes = main_->waiting_bytes() + (control_ ? control_->waiting_bytes() : 0);
  gauges.uptime_s = static_cast<double>(monotonic_ns() - started_ns_) * 1e-9;
  return gauges;
}

}  // namespace hone
