// Hardware counters of a launch on a device, and the figures computed from them.
#pragma once

#include <optional>
#include <vector>

#include "model/value.hpp"

namespace hone {

/// NaN: unknown. The members are those of hone_launch_counters (backend.h).
struct LaunchCounters {
  double seconds, memory_read_bytes, memory_written_bytes, cache_read_bytes, cache_written_bytes,
      load_sectors, load_requests, store_sectors, store_requests, local_bytes, bank_conflicts,
      active_warps;
};

/// From a map of numbers. A number that is missing, negative or not finite is unknown.
LaunchCounters launch_counters_of(const Value& map);

/// {"time_us", "memory_read_bytes", "memory_written_bytes", "cache_read_bytes", "cache_written_bytes",
/// "sectors_per_load", "sectors_per_store", "local_bytes", "bank_conflicts", "active_warps"}, each float|nil.
Value launch_counters_to_value(const LaunchCounters& counters);

/// Sums over all launches of a call; nullopt: at least one is unknown.
std::optional<double> memory_bytes(const std::vector<LaunchCounters>& launches);
std::optional<double> device_seconds(const std::vector<LaunchCounters>& launches);

}  // namespace hone
