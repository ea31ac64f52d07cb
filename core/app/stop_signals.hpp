// Waiting for SIGINT, SIGTERM and SIGHUP, for commands that run until they are stopped.
#pragma once

#include <string>

#include "base/result.hpp"

namespace hone {

/// Installs handlers: stop_asked() reports the first signal, and a second one, of any of them, ends the process at once. Call once, before threads start. A SIGHUP that is ignored (nohup) stays ignored. SIGPIPE is ignored as well.
Status catch_stop_signals();
/// Waits up to `timeout_ms` for a signal and returns its number; 0 after a timeout.
int stop_asked(int timeout_ms);
/// Makes SIGHUP ask for a reload instead, even if it was ignored (nohup). A SIGHUP from a terminal that was closed still stops. Call after catch_stop_signals().
Status reload_on_hangup();
/// Whether a SIGHUP asked for a reload since the last call.
bool reload_asked();
/// "SIGTERM"
std::string stop_signal_name(int number);

/// Installs handlers: the first signal prints this line to stderr and ends the process. For commands that keep their results so far. Call once, before threads start.
Status say_when_stopped(const std::string& words);

}  // namespace hone
