// The figures of a profile that come from hardware counters.
#pragma once

#include <optional>
#include <vector>

#include "model/launch_counters.hpp"
#include "model/value.hpp"

namespace hone {

/// {"time_us", "memory_read_bytes", "memory_written_bytes", "cache_read_bytes", "cache_written_bytes",
/// "sectors_per_load", "sectors_per_store", "local_bytes", "bank_conflicts", "active_warps"}, each float|nil.
Value facts_of_launch(const LaunchCounters& counters);

/// Sums over all launches of a call; nullopt: at least one is unknown.
std::optional<double> memory_bytes(const std::vector<LaunchCounters>& launches);
std::optional<double> device_seconds(const std::vector<LaunchCounters>& launches);

}  // namespace hone
