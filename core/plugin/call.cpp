// Sinks, errors and exceptions of calls across the ABI.
#include "plugin/call.hpp"

#include <exception>
#include <new>

#include "base/log.hpp"

namespace hone {
namespace {

struct Sink {
  std::string bytes;
  bool overflowed = false;
};

std::int32_t write_sink(void* self, const void* data, std::size_t size) {
  Sink& sink = *static_cast<Sink*>(self);
  if (size > kSinkBytesMax - sink.bytes.size()) {
    sink.overflowed = true;
    return HONE_RESOURCE_EXHAUSTED;
  }
  try {
    sink.bytes.append(static_cast<const char*>(data), size);
  } catch (const std::bad_alloc&) {
    return HONE_RESOURCE_EXHAUSTED;
  }
  return HONE_OK;
}

}  // namespace

Status call_plugin(std::string_view who, const std::function<std::int32_t(hone_error*)>& fn) {
  hone_error error = empty_error();
  std::int32_t code = HONE_INTERNAL;
  try {
    code = fn(&error);
  } catch (const std::exception& exception) {
    return internal_error(std::string(who) + ": threw across the ABI: " + exception.what());
  } catch (...) {
    return internal_error(std::string(who) +
                          ": threw across the ABI: an exception that is not a std::exception");
  }
  if (code == HONE_OK) return {};
  if (code < HONE_OK || code > HONE_INTERNAL) {
    return internal_error(std::string(who) + ": returned code " + std::to_string(code) +
                          ", expected 0 to " + std::to_string(HONE_INTERNAL));
  }
  error.message[sizeof error.message - 1] = '\0';
  const std::string message = error.message[0] != '\0' ? error.message : "failed without a message";
  return Error{static_cast<Code>(code), std::string(who) + ": " + message};
}

void call_void(std::string_view who, const std::function<void()>& fn) noexcept {
  try {
    fn();
  } catch (...) {
    log_error(who, "threw across the ABI");
  }
}

Result<std::string> call_for_bytes(std::string_view who,
                                   const std::function<std::int32_t(hone_sink*, hone_error*)>& fn) {
  Sink sink;
  hone_sink table{sizeof(hone_sink), &sink, write_sink};
  const Status called = call_plugin(who, [&](hone_error* error) { return fn(&table, error); });
  if (sink.overflowed) {
    return internal_error(std::string(who) + ": wrote more than " + std::to_string(kSinkBytesMax) +
                          " bytes");
  }
  if (!called) return called.error();
  return std::move(sink.bytes);
}

Result<Value> call_for_value(std::string_view who,
                             const std::function<std::int32_t(hone_sink*, hone_error*)>& fn) {
  HONE_ASSIGN(const std::string bytes, call_for_bytes(who, fn));
  CodecLimits limits;
  limits.bytes_max = kSinkBytesMax;
  auto value = from_msgpack(bytes, limits);
  if (!value) return internal_error(std::string(who) + ": wrote " + value.error().message);
  return value;
}

}  // namespace hone
