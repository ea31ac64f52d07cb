// The host's services as C functions. No exception leaves them.
#include "plugin/host_services.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

std::int32_t refuse(hone_error* error, Code code, std::string_view message) {
  if (error != nullptr && error->struct_size >= sizeof(hone_error)) {
    error->code = static_cast<std::int32_t>(code);
    const std::size_t size = std::min(message.size(), sizeof error->message - 1);
    std::memcpy(error->message, message.data(), size);
    error->message[size] = '\0';
  }
  return static_cast<std::int32_t>(code);
}

LogLevel log_level(std::int32_t level) {
  if (level <= HONE_LOG_DEBUG) return LogLevel::kDebug;
  if (level == HONE_LOG_INFO) return LogLevel::kInfo;
  return level == HONE_LOG_WARNING ? LogLevel::kWarning : LogLevel::kError;
}

}  // namespace

HostServices::HostServices(std::string plugin_name, HostOptions options)
    : plugin_name_(std::move(plugin_name)), options_(std::move(options)) {
  table_ = {sizeof(hone_host), this, log_line, is_cancelled, now, own_folder, parse};
}

void HostServices::log_line(void* self, std::int32_t level, const char* message) {
  if (message == nullptr) return;
  try {
    const HostServices& host = *static_cast<HostServices*>(self);
    if (host.options_.log) return host.options_.log(log_level(level), message);
    log(log_level(level), host.plugin_name_, message);
  } catch (...) {  // an exception must not reach a plugin; the line is lost
  }
}

std::int32_t HostServices::is_cancelled(void* self) {
  try {
    const auto& cancelled = static_cast<HostServices*>(self)->options_.cancelled;
    return cancelled && cancelled() ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

std::uint64_t HostServices::now(void*) { return static_cast<std::uint64_t>(monotonic_ns()); }

const char* HostServices::own_folder(void* self) {
  return static_cast<HostServices*>(self)->options_.workdir.c_str();
}

std::int32_t HostServices::parse(void* self, hone_bytes text, const char* name, hone_sink* out,
                                 hone_error* error) {
  try {
    const auto& parse_yaml = static_cast<HostServices*>(self)->options_.parse_yaml;
    if (!parse_yaml) return refuse(error, Code::kUnimplemented, "this host parses no yaml");
    const std::string_view view(reinterpret_cast<const char*>(text.data), text.size);
    const auto parsed =
        parse_yaml(text.size == 0 ? std::string_view() : view, name ? name : "yaml");
    if (!parsed) return refuse(error, parsed.error().code, parsed.error().message);
    const std::string bytes = to_msgpack(*parsed);
    return out->write(out->self, bytes.data(), bytes.size());
  } catch (const std::exception& exception) {
    return refuse(error, Code::kInternal, exception.what());
  } catch (...) {
    return refuse(error, Code::kInternal, "no std::exception");
  }
}

}  // namespace hone
