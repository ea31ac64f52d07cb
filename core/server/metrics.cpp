// Metrics and their two forms.
#include "server/metrics.hpp"

#include <cmath>
#include <cstdio>
#include <tuple>

#include "wire/message.hpp"

namespace hone {
namespace {

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

void line(std::string& out, const std::string& name, const std::string& labels, double v) {
  out += name + (labels.empty() ? "" : "{" + labels + "}") + " " + number(v) + "\n";
}

void head(std::string& out, const std::string& name, const char* type) {
  out += "# TYPE " + name + " " + type + "\n";
}

/// A path of map keys as a metric name.
std::string metric_name(std::string_view path) {
  std::string name;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  return name;
}

void flatten(std::string& out, const std::string& path, const Value& value) {
  if (value.is_map()) {
    for (const auto& [key, member] : value.as_map()) {
      // A client is a label, never part of a name.
      if (key != "clients" || !member.is_map()) flatten(out, path + "_" + key, member);
    }
  } else if (value.is_number() && std::isfinite(value.as_double())) {
    line(out, metric_name(path), "", value.as_double());
  } else if (value.is_bool()) {
    line(out, metric_name(path), "", value.as_bool() ? 1 : 0);
  }
}

/// A label's value may be any text in Prometheus' format, where three characters are escaped.
std::string label(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return "\"" + text + "\"";
}

/// Counters by client: steps with a verdict, steps without one, and detected classes of cheating.
void lines_of_clients(std::string& out, const Value& clients) {
  for (const auto& [metric, key] :
       {std::pair("hone_judged_total", "judged"), std::pair("hone_unscored_total", "unscored")}) {
    head(out, metric, "counter");
    for (const auto& [name, of] : clients.as_map()) {
      const Value* count = of.find(key);
      if (count != nullptr && count->is_number())
        line(out, metric, "client=" + label(name), count->as_double());
    }
  }
  head(out, "hone_often_unscored", "gauge");
  for (const auto& [name, of] : clients.as_map()) {
    const Value* often = of.find("often_unscored");
    if (often != nullptr && often->is_bool())
      line(out, "hone_often_unscored", "client=" + label(name), often->as_bool() ? 1 : 0);
  }
  for (const auto& [metric, key, what] :
       {std::tuple("hone_caught_total", "caught", "class"),
        std::tuple("hone_second_looks_total", "second_looks", "outcome")}) {
    head(out, metric, "counter");
    for (const auto& [name, of] : clients.as_map()) {
      const Value* counts = of.find(key);
      if (counts == nullptr || !counts->is_map()) continue;
      for (const auto& [kind, count] : counts->as_map()) {
        line(out, metric, std::string(what) + "=" + label(kind) + ",client=" + label(name),
             count.as_double());
      }
    }
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

Metrics::Named Metrics::counters() const {
  return {{{"messages_received", messages_in_},
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
           {"hung_up", hung_up}}};
}

Value Metrics::to_value(const Gauges& gauges, const Value& service) const {
  Value value = Value::map();
  for (const auto& [name, v] : gauge_list(gauges)) value.set(name, v);
  for (const auto& [name, count] : counters()) value.set(name, static_cast<std::int64_t>(count));
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
  for (std::size_t i = 0; i < kVerbCount; ++i) {
    const Histogram& histogram = seconds_[i];
    if (histogram.count() == 0) continue;
    seconds.set(verb_name(static_cast<Verb>(i)),
                Value::map({{"count", static_cast<std::int64_t>(histogram.count())},
                            {"sum", histogram.sum_s()},
                            {"p50_at_most", histogram.quantile_s(0.5)},
                            {"p99_at_most", histogram.quantile_s(0.99)}}));
  }
  value.set("request_seconds", std::move(seconds));
  value.set("service", service);
  return value;
}

std::string Metrics::to_prometheus(const Gauges& gauges, const Value& service) const {
  std::string out;
  for (const auto& [name, v] : gauge_list(gauges)) {
    head(out, "hone_" + std::string(name), "gauge");
    line(out, "hone_" + std::string(name), "", v.as_double());
  }
  for (const auto& [name, count] : counters()) {
    const std::string full = "hone_" + std::string(name) + "_total";
    head(out, full, "counter");
    line(out, full, "", static_cast<double>(count));
  }
  head(out, "hone_requests_total", "counter");
  for (const auto& [key, count] : requests_) {
    line(out, "hone_requests_total",
         "verb=\"" + std::string(verb_name(key.first)) + "\",code=\"" +
             std::string(code_name(key.second)) + "\"",
         static_cast<double>(count));
  }
  head(out, "hone_errors_total", "counter");
  for (const auto& [name, count] : errors_) {
    line(out, "hone_errors_total", "class=\"" + name + "\"", static_cast<double>(count));
  }
  for (const auto& [what, member] :
       {std::pair("messages", &OfClient::messages), std::pair("bytes", &OfClient::bytes),
        std::pair("answered", &OfClient::answered), std::pair("errors", &OfClient::errors)}) {
    const std::string full = std::string("hone_client_") + what + "_total";
    if (!clients_.empty()) head(out, full, "counter");
    for (const auto& [name, of] : clients_) {
      line(out, full, "client=\"" + name + "\"", static_cast<double>(of.*member));
    }
  }
  head(out, "hone_request_seconds", "histogram");
  for (std::size_t i = 0; i < kVerbCount; ++i) {
    const Histogram& histogram = seconds_[i];
    if (histogram.count() == 0) continue;
    const std::string verb = "verb=\"" + std::string(verb_name(static_cast<Verb>(i))) + "\"";
    for (std::size_t bucket = 0; bucket < Histogram::kBuckets; ++bucket) {
      line(out, "hone_request_seconds_bucket",
           verb + ",le=\"" + number(Histogram::upper_s(bucket)) + "\"",
           static_cast<double>(histogram.cumulative(bucket)));
    }
    const auto count = static_cast<double>(histogram.count());
    line(out, "hone_request_seconds_bucket", verb + ",le=\"+Inf\"", count);
    line(out, "hone_request_seconds_sum", verb, histogram.sum_s());
    line(out, "hone_request_seconds_count", verb, count);
  }
  const Value* evaluator = service.find("evaluator");
  const Value* clients = evaluator == nullptr ? nullptr : evaluator->find("clients");
  if (clients != nullptr && clients->is_map()) lines_of_clients(out, *clients);
  flatten(out, "hone_service", service);
  return out;
}

}  // namespace hone
