// The part of hone-player that starts a device's sanitizer.
#pragma once

#include "player/arguments.hpp"

namespace hone {

/// Seals itself, gets a request from the host, starts the sanitizer once for each run, and sends the reports. Returns the exit
/// status.
int sanitize(const PlayerArguments& given);

}  // namespace hone
