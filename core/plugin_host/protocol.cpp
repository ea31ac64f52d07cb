// Encodes requests and decodes answers, for both languages.
#include "plugin_host/protocol.hpp"

#include <utility>

#include "base/error_cause.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

CodecLimits limits() {
  CodecLimits limits;
  limits.bytes_max = kHostMessageBytesMax;
  return limits;
}

Result<HostMessage> read_log(Fields f) {
  HostMessage message;
  message.is_log = true;
  message.level = static_cast<int>(f.integer("level", HONE_LOG_DEBUG, HONE_LOG_ERROR));
  message.line = f.text("message");
  HONE_TRY(f.finish());
  return message;
}

Result<HostMessage> read_error(Fields f) {
  Error error;
  error.code = static_cast<Code>(f.integer("code", HONE_INVALID_ARGUMENT, HONE_INTERNAL));
  error.message = f.text("message", 4096);
  const std::string cause = f.text_or("cause", "", 64);
  HONE_TRY(f.finish());
  HONE_ASSIGN(error.cause, parse_enum<ErrorCause>(cause));
  return HostMessage{false, 0, {}, std::move(error)};
}

/// Values of a library are MessagePack that the plugin has written.
Result<Value> unwrap(const Value& value, const std::string& who) {
  if (!value.is_bytes()) return value;
  auto inner = from_msgpack(value.as_bytes(), limits());
  if (!inner) return internal_error(who + ": wrote " + inner.error().message);
  return inner;
}

}  // namespace

std::string encode_call(HostLanguage language, const HostCall& call) {
  Value request = Value::map({{"call", call.name},
                              {"kind", call.kind},
                              {"handle", call.handle},
                              {"bytes_max", kSinkBytesMax}});
  const Value nothing;
  const Value& argument = call.argument != nullptr ? *call.argument : nothing;
  if (language == HostLanguage::kPython) {
    request.set("argument", argument);
    return to_json(request);
  }
  request.set("argument", Value::bytes(to_msgpack(argument)));
  return to_msgpack(request);
}

Result<HostMessage> decode_message(HostLanguage language, std::string_view bytes,
                                   const std::string& who) {
  HONE_ASSIGN(const Value message, language == HostLanguage::kPython
                                       ? from_json(bytes, limits())
                                       : from_msgpack(bytes, limits()));
  if (!message.is_map()) {
    return invalid_argument("expected a map, found " + std::string(message.type_name()));
  }
  Fields f(message, "answer");
  if (const Value* log = f.map_or_null("log")) return read_log(f.inside("log", *log));
  if (const Value* error = f.map_or_null("error")) return read_error(f.inside("error", *error));
  const Value* value = f.value("value");
  HONE_TRY(f.finish());
  return HostMessage{false, 0, {}, unwrap(*value, who)};
}

}  // namespace hone
