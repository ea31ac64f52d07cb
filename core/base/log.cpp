// The one file that includes spdlog.
#include "base/log.hpp"

#include <spdlog/common.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "base/log_fields.hpp"
#include "base/utf8.hpp"

namespace hone {
namespace {

bool g_json = false;  // written once, before threads start

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_mt("hone");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%-7l%$ %v");
    made->set_level(spdlog::level::warn);
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

/// Control characters would let a message forge a line of its own.
std::string one_line(std::string_view text, bool json) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    if (json && (c == '"' || c == '\\')) line += '\\';
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return line;
}

}  // namespace

void set_up_log(LogLevel level, bool json) {
  g_json = json;
  logger().set_level(to_spdlog(level));
  if (json) {
    logger().set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
                         spdlog::pattern_time_type::utc);
  }
}

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

bool log_wanted(LogLevel level) { return logger().should_log(to_spdlog(level)); }

void log(LogLevel level, std::string_view who, std::string_view message) {
  log_with_fields(level, who, message, {});
}

void log_with_fields(LogLevel level, std::string_view who, std::string_view message,
                     const std::vector<LogField>& fields) {
  if (!logger().should_log(to_spdlog(level))) return;
  const std::string from = one_line(who, g_json);
  const std::string text = one_line(message, g_json);
  if (!g_json) {
    logger().log(to_spdlog(level), "{}", from + ": " + text);
    return;
  }
  std::string members =
      R"("from":")" + valid_utf8(from) + R"(","message":")" + valid_utf8(text) + '"';
  for (const LogField& field : fields)
    members += ",\"" + std::string(field.name) + "\":" + field.json;
  logger().log(to_spdlog(level), "{}", members);
}

}  // namespace hone
