#include "examine/launch_counters.hpp"

#include <cmath>
#include <limits>

namespace hone {
namespace {

struct Member {
  const char* name;
  double LaunchCounters::*value;
};

constexpr Member kMembers[] = {
    {"seconds", &LaunchCounters::seconds},
    {"memory_read_bytes", &LaunchCounters::memory_read_bytes},
    {"memory_written_bytes", &LaunchCounters::memory_written_bytes},
    {"cache_read_bytes", &LaunchCounters::cache_read_bytes},
    {"cache_written_bytes", &LaunchCounters::cache_written_bytes},
    {"load_sectors", &LaunchCounters::load_sectors},
    {"load_requests", &LaunchCounters::load_requests},
    {"store_sectors", &LaunchCounters::store_sectors},
    {"store_requests", &LaunchCounters::store_requests},
    {"local_bytes", &LaunchCounters::local_bytes},
    {"bank_conflicts", &LaunchCounters::bank_conflicts},
    {"active_warps", &LaunchCounters::active_warps},
};

Value known(double number) { return std::isfinite(number) ? Value(number) : Value(); }

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

LaunchCounters launch_counters_of(const Value& map) {
  LaunchCounters counters{};
  for (const Member& member : kMembers) {
    const Value* found = map.is_map() ? map.find(member.name) : nullptr;
    const double number = found != nullptr && found->is_number() ? found->as_double() : -1;
    counters.*member.value =
        std::isfinite(number) && number >= 0 ? number : std::numeric_limits<double>::quiet_NaN();
  }
  return counters;
}

Value launch_counters_to_value(const LaunchCounters& c) {
  constexpr double kMicroseconds = 1e6;
  return Value::map({{"time_us", known(c.seconds * kMicroseconds)},
                     {"memory_read_bytes", known(c.memory_read_bytes)},
                     {"memory_written_bytes", known(c.memory_written_bytes)},
                     {"cache_read_bytes", known(c.cache_read_bytes)},
                     {"cache_written_bytes", known(c.cache_written_bytes)},
                     {"sectors_per_load", known(ratio(c.load_sectors, c.load_requests))},
                     {"sectors_per_store", known(ratio(c.store_sectors, c.store_requests))},
                     {"local_bytes", known(c.local_bytes)},
                     {"bank_conflicts", known(c.bank_conflicts)},
                     {"active_warps", known(c.active_warps)}});
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
