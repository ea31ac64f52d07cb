// Waiting for SIGINT, SIGTERM or SIGHUP, for commands that run until they are stopped.
#pragma once

#include <string>

#include "base/log.hpp"
#include "base/result.hpp"

namespace hone {

/// Installs handlers: stop_asked() reports the first signal, and a second one ends the process. Call once, before threads start. A SIGHUP that is ignored (nohup) stays ignored. SIGPIPE is ignored as well.
Status catch_stop_signals();
/// Waits up to `timeout_ms` for a signal and returns its number; 0 after a timeout.
int stop_asked(int timeout_ms);
/// "SIGTERM"
std::string stop_signal_name(int number);

/// Installs handlers: the first signal prints this line to stderr and ends the process. For commands that keep their results so far. Call once, before threads start.
Status say_when_stopped(const std::string& words);

/// The log level of this name.
LogLevel log_level_of(const std::string& name);

}  // namespace hone
