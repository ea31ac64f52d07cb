// The replies to hello, ping, metrics and health.
#include "server/server_status.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "hone/version.h"
#include "wire/requests.hpp"

namespace hone {
namespace {

std::vector<std::string> all_of(const ServerProblems& problems) {
  std::vector<std::string> all = problems.blocking;
  all.insert(all.end(), problems.partial.begin(), problems.partial.end());
  return all;
}

}  // namespace

ServerStatus::ServerStatus(const ServerOptions& options, EpisodeService& service,
                           const Doors& doors, Metrics& metrics, const Shutdown& shutdown,
                           std::function<Gauges()> gauges)
    : options_(options),
      service_(service),
      doors_(doors),
      metrics_(metrics),
      shutdown_(shutdown),
      gauges_(std::move(gauges)) {}

Result<Value> ServerStatus::hello(Peer& peer, const Value& body) {
  HONE_ASSIGN(wire::HelloRequest greeting, wire::read_request<wire::HelloRequest>(body));
  // With CURVE, the key decides the client's name.
  if (!greeting.client.empty() && !peer.caller.proven)
    peer.caller.client = std::move(greeting.client);
  wire::Welcome welcome;
  welcome.server = "hone " HONE_VERSION_STRING;
  welcome.incarnation = doors_.incarnation();
  welcome.verbs = verb_names();
  welcome.control = doors_.control_endpoint();
  welcome.heartbeat_s = options_.heartbeat_s;
  welcome.limits = options_.limits;
  if (peer.client) {
    welcome.client = peer.client->name;
    welcome.role = role_name(peer.client->role);
  }
  welcome.source_bytes = options_.source_bytes_max;
  welcome.response_bytes = options_.response_bytes_max;
  welcome.in_flight = options_.in_flight_max;
  welcome.episodes = options_.episodes_max;
  welcome.capabilities = service_.capabilities();
  return to_value(welcome);
}

Value ServerStatus::pong() const {
  return Value::map({{"incarnation", doors_.incarnation()}, {"time", utc_now()}});
}

Result<Value> ServerStatus::metrics(const Value& body) {
  HONE_ASSIGN(const auto request, wire::read_request<wire::MetricsRequest>(body));
  metrics_.reaped = reaped_;
  metrics_.steps_dropped = steps_dropped_;
  const Doorkeeper::Counts counts = doors_.counts();
  metrics_.keys_refused = counts.keys_refused;
  metrics_.handshakes_failed = counts.handshakes_failed;
  metrics_.hung_up = counts.hung_up;
  Gauges gauges = gauges_();
  gauges.draining = shutdown_.has_begun();
  {
    MutexLock lock(mutex_);
    gauges.problems = problems_.blocking.size();
  }
  if (request.format == wire::MetricsFormat::kPrometheus) {
    return Value::map(
        {{"text", metrics_.to_prometheus(gauges, service_.stats(), request.old_names)}});
  }
  return Value::map({{"metrics", metrics_.to_value(gauges, service_.stats())}});
}

Result<Value> ServerStatus::health(const Value& body) {
  HONE_TRY(wire::read_request<wire::HealthRequest>(body));
  const Gauges now = gauges_();
  Value problems;
  bool failing = false;
  {
    MutexLock lock(mutex_);
    problems = texts_value(all_of(problems_));
    failing = !problems_.blocking.empty();
  }
  Value reply = Value::map({{"status", shutdown_.has_begun() ? "draining"
                                       : failing             ? "failing"
                                                             : "serving"},
                            {"problems", std::move(problems)},
                            {"incarnation", doors_.incarnation()},
                            {"uptime_s", now.uptime_s},
                            {"steps", service_.pending()},
                            {"in_flight", now.in_flight},
                            {"connections", now.sockets},
                            {"queue", now.queue}});
  if (shutdown_.has_begun()) reply.set("drain_ms", shutdown_.left_ms(monotonic_ns()));
  return reply;
}

void ServerStatus::check_problems() {
  if (!options_.problems) return;
  ServerProblems found = options_.problems();
  MutexLock lock(mutex_);
  const std::vector<std::string> known = all_of(problems_);
  for (const std::string& one : all_of(found)) {
    if (std::find(known.begin(), known.end(), one) == known.end()) log_error("server", one);
  }
  problems_ = std::move(found);
}

}  // namespace hone
