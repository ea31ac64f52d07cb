// Waiting for SIGINT, SIGTERM or SIGHUP, for commands that run until they are stopped.
#pragma once

#include <string>

#include "base/log.hpp"
#include "base/result.hpp"

namespace hone {

/// From now on the first of them is heard by stop_asked(); a second one ends the process, as ever.
/// Once, before threads start. A SIGHUP that is ignored (nohup) stays ignored. A peer that hangs up
/// raises no SIGPIPE either.
Status catch_stop_signals();
/// Waits up to `timeout_ms` for one and returns its number; 0: none came.
int stop_asked(int timeout_ms);
/// "SIGTERM"
std::string stop_signal_name(int number);

/// From now on the first of them says this on stderr, on a line of its own, and ends the process as ever. For commands
/// whose work so far is kept. Once, before threads start.
Status say_when_stopped(const std::string& words);

/// The level that a configuration's word names.
LogLevel log_level_of(const std::string& name);

}  // namespace hone
