// Fields of log lines, for programs that read the log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"

namespace hone {

struct LogField {
  std::string_view name;
  std::string json;  ///< the value, as JSON
};

/// [any thread] As log(). A JSON line has the fields as members; a text line has only the message.
void log_with_fields(LogLevel level, std::string_view who, std::string_view message,
                     const std::vector<LogField>& fields);

}  // namespace hone
