// Host: the host's services, as C++ sees them. A service that an older host lacks does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hone/abi.h"
#include "hone/plugin/failure.hpp"
#include "hone/plugin/msgpack.hpp"
#include "hone/plugin/reader.hpp"

namespace hone::plugin {

/// Borrows the host's table, which outlives the handle it was given to. [any]
class Host {
 public:
  explicit Host(const hone_host* host) : host_(host) {}

  /// A line in the host's log, marked with the plugin's name.
  void log(hone_log_level level, const std::string& line) const {
    if (has(offsetof(hone_host, log)) && host_->log) host_->log(host_->self, level, line.c_str());
  }
  void info(const std::string& line) const { log(HONE_LOG_INFO, line); }
  void warning(const std::string& line) const { log(HONE_LOG_WARNING, line); }

  bool cancelled() const {
    return has(offsetof(hone_host, cancelled)) && host_->cancelled && host_->cancelled(host_->self);
  }
  /// Long work calls this now and then: a Failure with HONE_CANCELLED once the host wants it to
  /// stop.
  void give_up_if_cancelled() const {
    if (cancelled()) fail(HONE_CANCELLED, "cancelled by the host");
  }
  /// Nanoseconds of a clock that never goes back; 0 where there is none.
  std::uint64_t now_ns() const {
    return has(offsetof(hone_host, now_ns)) && host_->now_ns ? host_->now_ns(host_->self) : 0;
  }
  /// A folder that is the plugin's own to write to, or "".
  std::string workdir() const {
    if (!has(offsetof(hone_host, workdir)) || !host_->workdir) return {};
    const char* path = host_->workdir(host_->self);
    return path ? path : "";
  }
  /// Parses YAML; `name` stands in messages. A mistake in the text is a Failure "name:line: …".
  Document parse_yaml(std::string_view text, const std::string& name) const {
    if (!has(offsetof(hone_host, parse_yaml)) || !host_->parse_yaml) {
      fail(HONE_UNIMPLEMENTED, "this host parses no yaml");
    }
    std::string bytes;
    hone_sink sink{sizeof(hone_sink), &bytes, append};
    hone_error error{sizeof(hone_error), 0, {}};
    const hone_bytes in{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    const std::int32_t code = host_->parse_yaml(host_->self, in, name.c_str(), &sink, &error);
    if (code != HONE_OK) fail(static_cast<hone_code>(code), error.message);
    const Value parsed = from_msgpack(std::string_view(bytes));
    Document document{name, parsed.at("value"), {}};
    for (const auto& [pointer, line] : parsed.at("lines").as_map()) {
      document.lines[pointer] = line.as_int();
    }
    return document;
  }

 private:
  bool has(std::size_t member_at) const {
    return host_ != nullptr && host_->struct_size >= member_at + sizeof(void*);
  }
  static std::int32_t append(void* self, const void* data, std::size_t size) {
    try {
      static_cast<std::string*>(self)->append(static_cast<const char*>(data), size);
    } catch (...) {
      return HONE_RESOURCE_EXHAUSTED;
    }
    return HONE_OK;
  }

  const hone_host* host_;
};

}  // namespace hone::plugin
