// The log as the configuration describes it.
#pragma once

#include <string>

#include "base/log.hpp"
#include "config/config.hpp"

namespace hone {

/// The log level of this name.
LogLevel log_level_of(const std::string& name);
/// "text" or "json"
std::string log_format_of(const LogConfig& config);
/// Call once, before threads start. Warns of deprecated keys.
void set_up_log(const LogConfig& config);

}  // namespace hone
