#include "model/launch_counters.hpp"

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

}  // namespace

Value launch_counters_to_value(const LaunchCounters& counters) {
  Value map = Value::map();
  for (const Member& member : kMembers) map.set(member.name, finite_or_nil(counters.*member.value));
  return map;
}

LaunchCounters launch_counters_of(const Value& map) {
  LaunchCounters counters{};
  counters.struct_size = sizeof counters;
  for (const Member& member : kMembers) {
    const Value* found = map.is_map() ? map.find(member.name) : nullptr;
    const double number = found != nullptr && found->is_number() ? found->as_double() : -1;
    const bool is_known = std::isfinite(number) && number >= 0;
    counters.*member.value = is_known ? number : std::numeric_limits<double>::quiet_NaN();
  }
  return counters;
}

}  // namespace hone
