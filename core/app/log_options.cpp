// Levels and formats by name.
#include "app/log_options.hpp"

namespace hone {

LogLevel log_level_of(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  return name == "off" ? LogLevel::kOff : LogLevel::kInfo;
}

std::string log_format_of(const LogConfig& config) { return config.json ? "json" : config.format; }

void set_up_log(const LogConfig& config) {
  set_up_log(log_level_of(config.level), log_format_of(config) == "json");
  if (config.json) log_warning("config", "log.json is deprecated; use log.format: json");
}

}  // namespace hone
