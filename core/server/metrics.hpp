// Metrics: counters and histograms of the server, as a map and as Prometheus text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"
#include "server/verbs.hpp"

namespace hone {

class PrometheusText;

/// Counts of durations in buckets 50 µs, 100 µs, 200 µs, 500 µs, … 500 s.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 22;
  static double upper_s(std::size_t bucket);  ///< inclusive upper bound, seconds

  void add(double seconds);
  std::uint64_t count() const { return count_; }
  double sum_s() const { return sum_s_; }
  /// Number of values up to upper_s(bucket).
  std::uint64_t cumulative(std::size_t bucket) const;
  /// Upper bound of the bucket in which the quantile lies; 0 when there is none.
  double quantile_s(double q) const;

 private:
  std::array<std::uint64_t, kBuckets + 1> counts_{};
  std::uint64_t count_ = 0;
  double sum_s_ = 0;
};

/// Current values, read for each request.
struct Gauges {
  bool draining = false;
  std::size_t problems = 0;  ///< that keep the server from doing steps
  std::size_t connections = 0, sockets = 0, in_flight = 0, queue = 0, outbox_bytes = 0;
  double uptime_s = 0;
};

/// The I/O thread's own: one thread, no locks.
class Metrics {
 public:
  void received(std::size_t bytes) { ++messages_in_, bytes_in_ += bytes; }
  void sent(std::size_t bytes) { ++messages_out_, bytes_out_ += bytes; }
  /// A request that got its reply.
  void answered(Verb verb, Code code, double seconds);
  /// Counts by client, only for clients that a key authenticates.
  void heard(const std::string& client, std::size_t bytes);
  void answered_client(const std::string& client, Code code);

  std::uint64_t malformed = 0;    ///< messages refused before their verb
  std::uint64_t busy = 0;         ///< replies with resource_exhausted
  std::uint64_t connections = 0;  ///< since the start
  std::uint64_t stalled = 0;      ///< connections whose outbox was full because they did not read
  std::uint64_t replies_dropped = 0;    ///< replies to closed connections
  std::uint64_t late = 0;               ///< replies of the service after the server had answered
  std::uint64_t deadlines = 0;          ///< requests the server itself ended at their deadline
  std::uint64_t reaped = 0;             ///< episodes whose lease ran out
  std::uint64_t steps_dropped = 0;      ///< steps whose connection was gone
  std::uint64_t keys_refused = 0;       ///< connections with a key that is not in the allow-list
  std::uint64_t handshakes_failed = 0;  ///< no CURVE, another server's key, garbage, too slow
  std::uint64_t hung_up = 0;  ///< connections that were closed because they were silent or too many

  Value to_value(const Gauges& gauges, const Value& service) const;
  /// Prometheus text format 0.0.4. `old_names`: also the names of hone 0.2.
  std::string to_prometheus(const Gauges& gauges, const Value& service,
                            bool old_names = true) const;

 private:
  std::uint64_t value_of(std::string_view counter) const;
  void write_clients_of_keys(PrometheusText& text) const;
  void write_old_names(PrometheusText& text, const Gauges& gauges, const Value& service) const;

  struct OfClient {
    std::uint64_t messages = 0, bytes = 0, answered = 0, errors = 0;
  };

  std::uint64_t messages_in_ = 0, messages_out_ = 0, bytes_in_ = 0, bytes_out_ = 0;
  std::map<std::pair<Verb, Code>, std::uint64_t> requests_;
  std::map<std::string, std::uint64_t, std::less<>> errors_;  // by class
  std::map<std::string, OfClient, std::less<>> clients_;
  std::array<Histogram, wire::kVerbCount + 1> seconds_;  // by Verb; the last one: unknown
};

}  // namespace hone
