// Metrics and their two forms.
#include "server/metrics.hpp"

#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include "hone/version.h"
#include "server/prometheus.hpp"
#include "wire/message.hpp"

namespace hone {
namespace {

/// A counter of the server: its name in the map, and its metric.
struct CounterRow {
  const char* name;
  const char* metric;
  const char* help;
};

constexpr CounterRow kCounters[] = {
    {"messages_received", "hone_messages_received_total", "Messages received."},
    {"messages_sent", "hone_messages_sent_total", "Messages sent."},
    {"bytes_received", "hone_received_bytes_total", "Bytes received."},
    {"bytes_sent", "hone_sent_bytes_total", "Bytes sent."},
    {"malformed", "hone_malformed_messages_total", "Messages that could not be read."},
    {"busy", "hone_busy_replies_total",
     "Requests that failed with resource_exhausted: a full queue, a limit of the server or of a "
     "client, too little memory, or a full disk."},
    {"connections_seen", "hone_connections_total", "Connections since the start."},
    {"connections_stalled", "hone_stalled_connections_total",
     "Connections given up because they did not read."},
    {"replies_dropped", "hone_dropped_replies_total", "Replies to connections that were lost."},
    {"late_ends", "hone_late_replies_total", "Replies that came after the server had answered."},
    {"deadlines_enforced", "hone_deadlines_enforced_total", "Requests ended at their deadline."},
    {"episodes_reaped", "hone_episodes_reaped_total", "Episodes closed because their lease ended."},
    {"steps_dropped", "hone_steps_dropped_total", "Steps cancelled with their lost connections."},
    {"keys_refused", "hone_keys_refused_total", "Connections with a key that is not allowed."},
    {"handshakes_failed", "hone_handshakes_failed_total", "Failed handshakes."},
    {"hung_up", "hone_silent_connections_closed_total",
     "Connections closed because they were silent or too many."},
};

void write_gauges(PrometheusText& text, const Gauges& gauges) {
  text.family("hone_build_info", MetricType::kGauge, "1; the version is a label.");
  text.sample(1, {{"version", HONE_VERSION_STRING}});
  text.family("hone_up", MetricType::kGauge, "1 if the server can do steps, else 0.");
  text.sample(gauges.draining || gauges.problems > 0 ? 0 : 1);
  for (const auto& [name, help, value] :
       {std::tuple("hone_draining", "1 while the server shuts down.", gauges.draining ? 1.0 : 0.0),
        std::tuple("hone_problems", "Problems that keep the server from doing steps.",
                   static_cast<double>(gauges.problems)),
        std::tuple("hone_connections",
                   "Connections that the server remembers, including closed ones.",
                   static_cast<double>(gauges.connections)),
        std::tuple("hone_sockets", "Open sockets.", static_cast<double>(gauges.sockets)),
        std::tuple("hone_requests_in_flight", "Requests without a reply.",
                   static_cast<double>(gauges.in_flight)),
        std::tuple("hone_requests_queued", "Requests that wait for a thread.",
                   static_cast<double>(gauges.queue)),
        std::tuple("hone_outbox_bytes", "Size of the replies that wait to be sent.",
                   static_cast<double>(gauges.outbox_bytes)),
        std::tuple("hone_uptime_seconds", "Time since the start of the server.",
                   gauges.uptime_s)}) {
    text.family(name, MetricType::kGauge, help);
    text.sample(value);
  }
}

std::array<std::pair<const char*, Value>, 6> gauge_list(const Gauges& gauges) {
  return {{{"connections", gauges.connections},
           {"sockets", gauges.sockets},
           {"in_flight", gauges.in_flight},
           {"queue", gauges.queue},
           {"outbox_bytes", gauges.outbox_bytes},
           {"uptime_s", gauges.uptime_s}}};
}

/// {"le": n}: cumulative counts, only at the bounds of buckets that have values.
Value buckets_value(const Histogram& histogram) {
  Value buckets = Value::map();
  std::uint64_t before = 0;
  for (std::size_t n = 0; n < Histogram::kBuckets; ++n) {
    const std::uint64_t cumulative = histogram.cumulative(n);
    char bound[32];
    std::snprintf(bound, sizeof bound, "%g", Histogram::upper_s(n));
    if (cumulative > before) buckets.set(bound, static_cast<std::int64_t>(cumulative));
    before = cumulative;
  }
  return buckets;
}

}  // namespace

double Histogram::upper_s(std::size_t bucket) {
  static constexpr double kSteps[] = {1, 2, 5};
  // Bucket 0 is 5e-5, then 1e-4, 2e-4, 5e-4, …
  const std::size_t n = bucket + 2;
  const std::size_t decade = n / 3;
  return 1e-5 * kSteps[n % 3] * std::pow(10.0, static_cast<double>(decade));
}

void Histogram::add(double seconds) {
  std::size_t bucket = 0;
  while (bucket < kBuckets && seconds > upper_s(bucket)) ++bucket;
  ++counts_[bucket];
  ++count_;
  sum_s_ += seconds;
}

std::uint64_t Histogram::cumulative(std::size_t bucket) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bucket && i < counts_.size(); ++i) total += counts_[i];
  return total;
}

double Histogram::quantile_s(double q) const {
  if (count_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (cumulative(bucket) >= wanted) return upper_s(bucket);
  }
  return upper_s(kBuckets - 1);
}

void Metrics::answered(Verb verb, Code code, double seconds) {
  ++requests_[{verb, code}];
  if (code == Code::kResourceExhausted) ++busy;
  if (code != Code::kOk) ++errors_[std::string(wire::error_class(code))];
  seconds_[static_cast<std::size_t>(verb)].add(seconds);
}

void Metrics::heard(const std::string& client, std::size_t bytes) {
  OfClient& of = clients_[client];
  ++of.messages;
  of.bytes += bytes;
}

void Metrics::answered_client(const std::string& client, Code code) {
  OfClient& of = clients_[client];
  ++of.answered;
  if (code != Code::kOk) ++of.errors;
}

std::uint64_t Metrics::value_of(std::string_view counter) const {
  const std::pair<std::string_view, std::uint64_t> all[] = {
      {"messages_received", messages_in_},
      {"messages_sent", messages_out_},
      {"bytes_received", bytes_in_},
      {"bytes_sent", bytes_out_},
      {"malformed", malformed},
      {"busy", busy},
      {"connections_seen", connections},
      {"connections_stalled", stalled},
      {"replies_dropped", replies_dropped},
      {"late_ends", late},
      {"deadlines_enforced", deadlines},
      {"episodes_reaped", reaped},
      {"steps_dropped", steps_dropped},
      {"keys_refused", keys_refused},
      {"handshakes_failed", handshakes_failed},
      {"hung_up", hung_up}};
  for (const auto& [name, value] : all) {
    if (name == counter) return value;
  }
  return 0;
}

Value Metrics::to_value(const Gauges& gauges, const Value& service) const {
  Value value = Value::map();
  for (const auto& [name, v] : gauge_list(gauges)) value.set(name, v);
  for (const CounterRow& row : kCounters)
    value.set(row.name, static_cast<std::int64_t>(value_of(row.name)));
  Value requests = Value::map();
  for (const auto& [key, count] : requests_) {
    const std::string verb(verb_name(key.first));
    Value codes = requests.find(verb) != nullptr ? *requests.find(verb) : Value::map();
    codes.set(code_name(key.second), static_cast<std::int64_t>(count));
    requests.set(verb, std::move(codes));
  }
  value.set("requests", std::move(requests));
  Value errors = Value::map();
  for (const auto& [name, count] : errors_) errors.set(name, static_cast<std::int64_t>(count));
  value.set("errors", std::move(errors));
  Value clients = Value::map();
  for (const auto& [name, of] : clients_) {
    clients.set(name, Value::map({{"messages", static_cast<std::int64_t>(of.messages)},
                                  {"bytes", static_cast<std::int64_t>(of.bytes)},
                                  {"answered", static_cast<std::int64_t>(of.answered)},
                                  {"errors", static_cast<std::int64_t>(of.errors)}}));
  }
  value.set("clients", std::move(clients));
  Value seconds = Value::map();
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    const Histogram& histogram = seconds_[i];
    if (histogram.count() == 0) continue;
    seconds.set(verb_name(static_cast<Verb>(i)),
                Value::map({{"count", static_cast<std::int64_t>(histogram.count())},
                            {"sum", histogram.sum_s()},
                            {"buckets", buckets_value(histogram)},
                            {"p50_at_most", histogram.quantile_s(0.5)},
                            {"p99_at_most", histogram.quantile_s(0.99)}}));
  }
  value.set("request_seconds", std::move(seconds));
  value.set("service", service);
  return value;
}

std::string Metrics::to_prometheus(const Gauges& gauges, const Value& service,
                                   bool old_names) const {
  PrometheusText text;
  write_gauges(text, gauges);
  for (const CounterRow& row : kCounters) {
    text.family(row.metric, MetricType::kCounter, row.help);
    text.sample(static_cast<double>(value_of(row.name)));
  }
  text.family("hone_requests_total", MetricType::kCounter,
              "Requests by verb and code of the reply.");
  for (const auto& [key, count] : requests_) {
    text.sample(static_cast<double>(count), {{"verb", std::string(verb_name(key.first))},
                                             {"code", std::string(code_name(key.second))}});
  }
  text.family("hone_errors_total", MetricType::kCounter, "Error replies by class.");
  for (const auto& [name, count] : errors_)
    text.sample(static_cast<double>(count), {{"class", name}});
  write_clients_of_keys(text);
  text.family("hone_request_seconds", MetricType::kHistogram, "Time from a request to its reply.");
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    const Histogram& histogram = seconds_[i];
    if (histogram.count() == 0) continue;
    std::vector<std::pair<double, double>> buckets;
    for (std::size_t n = 0; n < Histogram::kBuckets; ++n)
      buckets.emplace_back(Histogram::upper_s(n), static_cast<double>(histogram.cumulative(n)));
    text.histogram(buckets, histogram.sum_s(), static_cast<double>(histogram.count()),
                   {{"verb", std::string(verb_name(static_cast<Verb>(i)))}});
  }
  write_service_metrics(text, service);
  if (old_names) write_old_names(text, gauges, service);
  return text.take();
}

void Metrics::write_clients_of_keys(PrometheusText& text) const {
  for (const auto& [name, help, member] :
       {std::tuple("hone_client_messages_total", "Messages of a client with a key.",
                   &OfClient::messages),
        std::tuple("hone_client_bytes_total", "Bytes received from a client with a key.",
                   &OfClient::bytes),
        std::tuple("hone_client_answered_total", "Replies to a client with a key.",
                   &OfClient::answered),
        std::tuple("hone_client_errors_total", "Error replies to a client with a key.",
                   &OfClient::errors)}) {
    text.family(name, MetricType::kCounter, help);
    for (const auto& [client, of] : clients_)
      text.sample(static_cast<double>(of.*member), {{"client", client}});
  }
}

/// Names of hone 0.2, for one release.
void Metrics::write_old_names(PrometheusText& text, const Gauges& gauges,
                              const Value& service) const {
  const auto old = [&text](const std::string& name, MetricType type, const std::string& now,
                           double value) {
    text.family(name, type, "Deprecated: use " + now + ".");
    text.sample(value);
  };
  old("hone_in_flight", MetricType::kGauge, "hone_requests_in_flight",
      static_cast<double>(gauges.in_flight));
  old("hone_queue", MetricType::kGauge, "hone_requests_queued", static_cast<double>(gauges.queue));
  old("hone_uptime_s", MetricType::kGauge, "hone_uptime_seconds", gauges.uptime_s);
  for (const CounterRow& row : kCounters) {
    const std::string before = "hone_" + std::string(row.name) + "_total";
    if (before != row.metric)
      old(before, MetricType::kCounter, row.metric, static_cast<double>(value_of(row.name)));
  }
  write_old_service_metrics(text, service);
}

}  // namespace hone
