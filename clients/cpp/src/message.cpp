// Reading replies leniently, as a client should: a later server may say more.
#include "message.hpp"

#include "base/error_cause.hpp"

namespace hone::inline client_api {
namespace {

// A reply holds what the server made of its own limits, so the client accepts more than a server
// does.
constexpr wire::Limits kReplyLimits{
    .frames_max = 1024,
    .frame_bytes_max = 256u << 20,
    .message_bytes_max = 1u << 30,
    .header_bytes_max = 1u << 16,
    .codec = {
        .depth_max = 64, .items_max = 1u << 20, .values_max = 1u << 24, .bytes_max = 256u << 20}};

}  // namespace

Error Failure::error() const {
  return {code, message, find_enum<ErrorCause>(cause).value_or(ErrorCause::kNone)};
}

Result<ReplyMessage> read_reply(Frames frames) {
  HONE_ASSIGN(wire::Reply reply, wire::decode_reply(std::move(frames), kReplyLimits));
  HONE_ASSIGN(Value body, from_msgpack(reply.body, kReplyLimits.codec));
  return ReplyMessage{reply.kind, reply.id, std::move(body)};
}

Failure read_failure(const Value& body) {
  const auto read = wire::error_body_from_value(body);
  if (!read)
    return {Code::kInternal, "protocol", read.error().in("an error reply").message, false, {}};
  Failure failure{read->code, read->error_class, read->message, read->retryable, {}};
  if (read->retry_after_ms)
    failure.retry_after_s = static_cast<double>(*read->retry_after_ms) / 1000;
  failure.shutting_down = read->shutting_down;
  failure.drain_ms = read->drain_ms.value_or(0);
  failure.cause = read->cause;
  return failure;
}

Failure no_server(std::string message, bool retryable) {
  Failure failure{Code::kUnavailable, "infra", std::move(message), retryable, {}};
  failure.cause = kServerLost;
  return failure;
}

Failure given_up(std::string message) {
  return {Code::kCancelled, "cancelled", std::move(message), false, {}};
}

Failure protocol_failure(Code code, std::string message) {
  return {code, "protocol", std::move(message), false, {}};
}

std::string text_or(const Value& map, std::string_view key, std::string fallback) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : fallback;
}

std::int64_t int_or(const Value& map, std::string_view key, std::int64_t fallback) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_int() ? found->as_int() : fallback;
}

double number_or(const Value& map, std::string_view key, double fallback) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_number() ? found->as_double() : fallback;
}

bool bool_or(const Value& map, std::string_view key, bool fallback) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_bool() ? found->as_bool() : fallback;
}

}  // namespace hone::inline client_api
