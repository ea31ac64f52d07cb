// Requests on their way to their handlers.
#include "server/dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "wire/requests.hpp"

namespace hone {
namespace {

Result<std::string> packed(Result<Value> value) {
  if (!value) return value.error();
  return to_msgpack(*value);
}

double seconds_left(std::int64_t deadline_ns) {
  if (deadline_ns == 0) return 0;
  return std::max(1e-3, static_cast<double>(deadline_ns - monotonic_ns()) * 1e-9);
}

}  // namespace

Dispatcher::Dispatcher(const ServerOptions& options, EpisodeService& service, Replies& replies,
                       ServerStatus& status, WorkerPool& workers)
    : options_(options), service_(service), replies_(replies), status_(status), workers_(workers) {}

void Dispatcher::serve(const VerbCall& call) {
  const auto& handler = verb_row(call.verb).handler;
  if (const auto* here = std::get_if<OnIoThread>(&handler))
    return replies_.finish(call.peer, call.id, call.serial, packed(here->serve(*this, call)));
  if (const auto* worker = std::get_if<OnWorker>(&handler)) return serve_by_worker(call, *worker);
  std::get<ByService>(handler).serve(*this, call);
}

/// Sends no `accepted` if the reply is ready when the call returns.
void Dispatcher::serve_step(const VerbCall& call) {
  service_.step(call.peer->caller, call.body, seconds_left(call.deadline_ns),
                replies_.progress_of(call), replies_.reply_to(call));
  replies_.send_ready();
  if (InFlight* request = RequestsInFlight::find(*call.peer, call.id, call.serial))
    replies_.accept(call.peer, call.id, *request);
}

void Dispatcher::serve_by_worker(const VerbCall& call, const OnWorker& worker) {
  auto job = [this, serve = worker.serve, caller = call.peer->caller, verb = call.verb,
              deadline_ns = call.deadline_ns, body = call.body, reply = replies_.reply_to(call)] {
    if (deadline_ns != 0 && monotonic_ns() > deadline_ns) return reply(too_late(verb));
    serve(service_, caller, body, reply);
  };
  if (workers_.submit(std::move(job))) return;
  replies_.finish(call.peer, call.id, call.serial,
                  resource_exhausted("the queue of " + std::to_string(options_.queue_max) +
                                     " requests is full"));
}

Result<Value> Dispatcher::ping(const VerbCall& call) {
  HONE_ASSIGN(const auto request, wire::read_request<wire::PingRequest>(call.body));
  if (!request.episodes.empty()) service_.renew(call.peer->caller, request.episodes);
  return status_.pong();
}

}  // namespace hone
