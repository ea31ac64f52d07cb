// Replies to clients.
#include "server/replies.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

// A client of a server that shuts down may look for the next one this often (ms).
constexpr std::int64_t kNextServerMs = 1000;

/// A progress message is useless if the reply to its request follows in the same batch.
bool outdated(const std::vector<Event>& events, std::size_t index) {
  constexpr std::size_t kLookAhead = 8;
  if (events[index].last) return false;
  const std::size_t end = std::min(events.size(), index + 1 + kLookAhead);
  for (std::size_t i = index + 1; i < end; ++i) {
    if (events[i].last && events[i].serial == events[index].serial) return true;
  }
  return false;
}

}  // namespace

Error too_late(Verb verb) {
  return {Code::kDeadlineExceeded,
          std::string(verb_name(verb)) + ": not done by its deadline; send the same request again"};
}

Replies::Replies(Doors& doors, RequestsInFlight& requests, Metrics& metrics,
                 const Shutdown& shutdown, std::shared_ptr<EventQueue> events,
                 std::function<std::int64_t()> retry_after_ms)
    : doors_(doors),
      requests_(requests),
      metrics_(metrics),
      shutdown_(shutdown),
      events_(std::move(events)),
      retry_after_ms_(std::move(retry_after_ms)) {}

EpisodeService::Reply Replies::reply_to(const VerbCall& call) const {
  return [events = events_, peer = call.peer, id = call.id,
          serial = call.serial](Result<std::string> body) {
    events->push({peer, id, serial, true, std::move(body)});
  };
}

EpisodeService::Progress Replies::progress_of(const VerbCall& call) const {
  return [events = events_, peer = call.peer, id = call.id, serial = call.serial](Value body) {
    events->push({peer, id, serial, false, to_msgpack(body)});
  };
}

void Replies::send_ready() {
  events_->take(taken_);
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!outdated(taken_, i)) send_event(std::move(taken_[i]));
  }
  taken_.clear();
}

void Replies::send_event(Event event) {
  if (event.last) return finish(event.peer, event.id, event.serial, std::move(event.body));
  InFlight* request = RequestsInFlight::find(*event.peer, event.id, event.serial);
  if (request == nullptr) return;
  accept(event.peer, event.id, *request);
  request->progress = std::move(event.body).value();
  doors_.of(*event.peer)
      .send(event.peer, wire::encode_reply({wire::ReplyKind::kProgress,
                                            event.id,
                                            std::string(verb_name(request->verb)),
                                            request->progress,
                                            {}}));
}

void Replies::accept(const std::shared_ptr<Peer>& peer, std::int64_t id, InFlight& request) {
  if (std::exchange(request.accepted, true)) return;
  doors_.of(*peer).send(peer, wire::encode_reply({wire::ReplyKind::kAccepted,
                                                  id,
                                                  std::string(verb_name(request.verb)),
                                                  to_msgpack(Value::map()),
                                                  {}}));
}

void Replies::finish(const std::shared_ptr<Peer>& peer, std::int64_t id, std::uint64_t serial,
                     Result<std::string> body) {
  const std::optional<InFlight> request = requests_.end(*peer, id, serial);
  if (!request) {
    ++metrics_.late;
    return;
  }
  const Code code = body ? Code::kOk : body.error().code;
  metrics_.answered(request->verb, code,
                    static_cast<double>(monotonic_ns() - request->started_ns) * 1e-9);
  if (peer->client) metrics_.answered_client(peer->client->name, code);
  wire::Reply reply{body ? wire::ReplyKind::kResult : wire::ReplyKind::kError,
                    id,
                    std::string(verb_name(request->verb)),
                    {},
                    {}};
  reply.body = body ? std::move(*body) : packed_error(body.error());
  if (code == Code::kInternal) log_error("server", reply.verb + ": " + body.error().message);
  doors_.of(*peer).send(peer, wire::encode_reply(std::move(reply)));
}

void Replies::refuse(const std::shared_ptr<Peer>& peer, std::int64_t id, const std::string& verb,
                     const Error& error) {
  metrics_.answered(kUnknownVerb, error.code, 0);
  doors_.of(*peer).send(
      peer, wire::encode_reply({wire::ReplyKind::kError, id, verb, packed_error(error), {}}));
}

void Replies::turn_away(Peers& peers, Peer& peer, std::int64_t id, const std::string& verb,
                        const Error& error) {
  peers.send_unqueued(
      peer, wire::encode_reply({wire::ReplyKind::kError, id, verb, packed_error(error), {}}));
}

void Replies::end_overdue(std::int64_t now_ns) {
  while (const auto due = requests_.take_overdue(now_ns)) {
    ++metrics_.deadlines;
    finish(due->peer, due->id, due->serial, too_late(due->verb));
  }
}

void Replies::announce_shutdown() {
  const Value body = Value::map({{"drain_ms", shutdown_.left_ms(monotonic_ns())}});
  doors_.main().each([&](const std::shared_ptr<Peer>& peer) {
    if (doors_.main().revoked(*peer) || peer->disconnected_ns != 0) return;
    // Unqueued, so that a client that does not read does not delay the shutdown.
    doors_.main().send_unqueued(
        *peer, wire::encode_reply({wire::ReplyKind::kGoingAway, -1, "", to_msgpack(body), {}}));
  });
}

void Replies::end_all(const Error& error) {
  doors_.each([&](const std::shared_ptr<Peer>& peer) {
    const auto requests = peer->in_flight;
    for (const auto& [id, request] : requests) finish(peer, id, request.serial, error);
  });
}

std::string Replies::packed_error(const Error& error) const {
  wire::ErrorBody body = wire::error_body(error, retry_after_ms_());
  if (shutdown_.has_begun() && error.code == Code::kUnavailable) {
    body.shutting_down = true;
    body.drain_ms = shutdown_.left_ms(monotonic_ns());
    body.retry_after_ms = kNextServerMs;
  }
  return to_msgpack(to_value(body));
}

}  // namespace hone
