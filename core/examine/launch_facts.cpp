#include "examine/launch_facts.hpp"

#include <cmath>
#include <limits>

namespace hone {
namespace {

/// Unknown without requests.
double ratio(double sectors, double requests) {
  return requests > 0 ? sectors / requests : std::numeric_limits<double>::quiet_NaN();
}

template <typename Figure>
std::optional<double> sum_of(const std::vector<LaunchCounters>& launches, const Figure& figure) {
  double sum = 0;
  for (const LaunchCounters& one : launches) sum += figure(one);
  return launches.empty() || !std::isfinite(sum) ? std::nullopt : std::optional(sum);
}

}  // namespace

Value facts_of_launch(const LaunchCounters& c) {
  constexpr double kMicroseconds = 1e6;
  return Value::map({{"time_us", finite_or_nil(c.seconds * kMicroseconds)},
                     {"memory_read_bytes", finite_or_nil(c.memory_read_bytes)},
                     {"memory_written_bytes", finite_or_nil(c.memory_written_bytes)},
                     {"cache_read_bytes", finite_or_nil(c.cache_read_bytes)},
                     {"cache_written_bytes", finite_or_nil(c.cache_written_bytes)},
                     {"sectors_per_load", finite_or_nil(ratio(c.load_sectors, c.load_requests))},
                     {"sectors_per_store", finite_or_nil(ratio(c.store_sectors, c.store_requests))},
                     {"local_bytes", finite_or_nil(c.local_bytes)},
                     {"bank_conflicts", finite_or_nil(c.bank_conflicts)},
                     {"active_warps", finite_or_nil(c.active_warps)}});
}

std::optional<double> memory_bytes(const std::vector<LaunchCounters>& launches) {
  return sum_of(launches, [](const LaunchCounters& one) {
    return one.memory_read_bytes + one.memory_written_bytes;
  });
}

std::optional<double> device_seconds(const std::vector<LaunchCounters>& launches) {
  const auto sum = sum_of(launches, [](const LaunchCounters& one) { return one.seconds; });
  return sum && *sum > 0 ? sum : std::nullopt;
}

}  // namespace hone
