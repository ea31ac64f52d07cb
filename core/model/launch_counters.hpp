// Hardware counters of a launch, between hone-player and the host.
#pragma once

#include "hone/backend.h"
#include "model/value.hpp"

namespace hone {

/// NaN: unknown. backend.h documents the members.
using LaunchCounters = hone_launch_counters;

/// The numbers by their members' names; nil: unknown.
Value launch_counters_to_value(const LaunchCounters& counters);
/// The reverse. The map is untrusted: a number that is missing, negative or not finite is unknown.
LaunchCounters launch_counters_of(const Value& map);

}  // namespace hone
