// HostServices: the hone_host table that the handles of one plugin get.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/result.hpp"
#include "hone/abi.h"
#include "model/value.hpp"

namespace hone {

/// Services for plugins. [any thread]
struct HostOptions {
  /// {"value": document, "lines": {pointer: line}}, or an error "name:line: …". The caller passes the parser of core/config, because this folder may not include it; without one, parse_yaml is unimplemented.
  std::function<Result<Value>(std::string_view text, std::string_view name)> parse_yaml;
  /// Whether calls in progress should stop; if not set, never.
  std::function<bool()> cancelled;
  /// The plugin's own folder; "" for none.
  std::string workdir;
  /// Receives the plugin's log lines; without one, they go to hone's log under the plugin's name.
  std::function<void(LogLevel level, std::string_view line)> log = {};
};

/// The services of one plugin. Its handles share them, so this must outlive them. [any thread]
class HostServices {
 public:
  HostServices(std::string plugin_name, HostOptions options);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  const hone_host* table() const { return &table_; }

 private:
  static void log_line(void* self, std::int32_t level, const char* message);
  static std::int32_t is_cancelled(void* self);
  static std::uint64_t now(void* self);
  static const char* own_folder(void* self);
  static std::int32_t parse(void* self, hone_bytes text, const char* name, hone_sink* out,
                            hone_error* error);

  const std::string plugin_name_;
  const HostOptions options_;
  hone_host table_{};
};

}  // namespace hone
