// The part of hone-player that reads hardware counters while it makes the launches of one call.
#pragma once

#include "player/arguments.hpp"

namespace hone {

/// Seals itself, opens the device, gets a request from the host, repeats its first call until everything is counted, and
/// sends {"launches": [{name: float|nil}]}, or {"problem": str}. The names are the members of hone_launch_counters. Returns
/// the exit status.
int count(const PlayerArguments& given);

}  // namespace hone
