// The bodies that belong to the protocol itself: errors and hello.
#include "base/error_cause.hpp"
#include "base/utf8.hpp"
#include "hone/version.h"
#include "model/fields.hpp"
#include "wire/message.hpp"

namespace hone::wire {
namespace {

// A message may quote what the caller sent; it is not an echo of megabytes.
constexpr std::size_t kMessageBytesMax = 4096;

}  // namespace

std::string_view error_class(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kUnimplemented:
      return "protocol";
    case Code::kNotFound:
    case Code::kFailedPrecondition:
      return "task";
    case Code::kResourceExhausted:
      return "capacity";
    case Code::kDeadlineExceeded:
      return "timeout";
    case Code::kCancelled:
      return "cancelled";
    case Code::kOk:
    case Code::kUnavailable:
    case Code::kInternal:
      return "infra";
  }
  return "infra";
}

ErrorBody error_body(const Error& error, std::int64_t retry_after_ms) {
  ErrorBody body;
  body.code = error.code;
  body.error_class = error_class(error.code);
  // What it quotes may be any bytes, and every client decodes text.
  body.message = cut_end(valid_utf8(error.message), kMessageBytesMax);
  body.retryable = is_retryable(error.code);
  if (error.code == Code::kResourceExhausted) body.retry_after_ms = retry_after_ms;
  body.cause = enum_name(error.cause);
  return body;
}

Value to_value(const ErrorBody& body) {
  Value value =
      Value::map({{"code", code_name(body.code)},
                  {"class", body.error_class},
                  {"message", body.message},
                  {"retryable", body.retryable},
                  {"retry_after_ms", body.retry_after_ms ? Value(*body.retry_after_ms) : Value()},
                  {"reward_valid", false}});
  if (body.shutting_down) value.set("shutting_down", true);
  if (body.drain_ms) value.set("drain_ms", *body.drain_ms);
  if (!body.cause.empty()) value.set("cause", body.cause);
  return value;
}

Result<ErrorBody> error_body_from_value(const Value& value) {
  Fields fields(value, "error");
  ErrorBody body;
  const std::string code = fields.text("code");
  body.error_class = fields.text_or("class", "infra");
  body.message = fields.text_or("message", "");
  body.retryable = fields.flag_or("retryable", false);
  body.shutting_down = fields.flag_or("shutting_down", false);
  body.cause = fields.text_or("cause", "");
  const Value* after = fields.value_or_null("retry_after_ms");
  if (after != nullptr && after->is_int()) body.retry_after_ms = after->as_int();
  const Value* drain = fields.value_or_null("drain_ms");
  if (drain != nullptr && drain->is_int()) body.drain_ms = drain->as_int();
  HONE_TRY(fields.finish_loosely());
  for (int n = HONE_INVALID_ARGUMENT; n <= HONE_INTERNAL; ++n) {
    if (code_name(static_cast<Code>(n)) == code) body.code = static_cast<Code>(n);
  }
  return body;
}

Value to_value(const Welcome& welcome) {
  Value value =
      Value::map({{"version", kProtocol},
                  {"server", welcome.server},
                  {"incarnation", welcome.incarnation},
                  {"verbs", texts_value(welcome.verbs)},
                  {"control", welcome.control.empty() ? Value() : Value(welcome.control)},
                  {"client", welcome.client.empty() ? Value() : Value(welcome.client)},
                  {"role", welcome.role.empty() ? Value() : Value(welcome.role)},
                  {"heartbeat_s", welcome.heartbeat_s},
                  {"lease_s", 0.0},
                  {"limits", Value::map({{"frame_bytes", welcome.limits.frame_bytes_max},
                                         {"message_bytes", welcome.limits.message_bytes_max},
                                         {"frames", welcome.limits.frames_max},
                                         {"source_bytes", welcome.source_bytes},
                                         {"response_bytes", welcome.response_bytes},
                                         {"in_flight", welcome.in_flight},
                                         {"episodes", welcome.episodes}})}});
  if (welcome.capabilities.is_map()) {
    for (const auto& [key, member] : welcome.capabilities.as_map()) value.set(key, member);
  }
  return value;
}

}  // namespace hone::wire
