// The host's log (spdlog behind it): levels, one line each, to standard error.
#pragma once

#include <string_view>

namespace hone {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// Sets the level and whether lines are JSON objects. Call once, before threads start.
void set_up_log(LogLevel level, bool json);
/// [any thread] Changes the level.
void set_log_level(LogLevel level);
/// [any thread] Whether this level is logged, for callers that would build many lines for nothing.
bool log_wanted(LogLevel level);
/// [any thread] Writes one line. `who` names the part: "server", "judge", a plugin's name.
void log(LogLevel level, std::string_view who, std::string_view message);

inline void log_debug(std::string_view who, std::string_view m) { log(LogLevel::kDebug, who, m); }
inline void log_info(std::string_view who, std::string_view m) { log(LogLevel::kInfo, who, m); }
inline void log_warning(std::string_view who, std::string_view m) {
  log(LogLevel::kWarning, who, m);
}
inline void log_error(std::string_view who, std::string_view m) { log(LogLevel::kError, who, m); }

}  // namespace hone
