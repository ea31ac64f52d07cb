// Encoding requests, decoding replies.
#include "message.hpp"

#include <algorithm>

namespace hone {
namespace {

// A reply holds what the server made of its own limits, so the client accepts more than a server
// does.
constexpr CodecLimits kReplyLimits{
    .depth_max = 64, .items_max = 1u << 20, .values_max = 1u << 24, .bytes_max = 256u << 20};

Code parse_code(const std::string& name) {
  for (int code = HONE_INVALID_ARGUMENT; code <= HONE_INTERNAL; ++code) {
    if (code_name(static_cast<Code>(code)) == name) return static_cast<Code>(code);
  }
  return Code::kInternal;
}

}  // namespace

Frames encode_request(const std::string& verb, std::int64_t id, std::int64_t deadline_ms,
                      const std::string& body, const std::vector<std::string>& buffers) {
  Value header = Value::map({{"id", id}});
  if (deadline_ms > 0) header.set("deadline_ms", deadline_ms);
  Frames frames{kProtocol, verb, to_msgpack(header), body};
  frames.insert(frames.end(), buffers.begin(), buffers.end());
  return frames;
}

Result<ReplyMessage> decode_reply(const Frames& frames) {
  if (frames.size() < 4) {
    return invalid_argument("reply: found " + std::to_string(frames.size()) +
                            " frames, expected at least 4");
  }
  if (frames[0] != kProtocol) return invalid_argument("reply: found no hone/1 in the first frame");
  ReplyMessage reply;
  const std::string& kind = frames[1];
  if (kind == "accepted") {
    reply.kind = ReplyKind::kAccepted;
  } else if (kind == "progress") {
    reply.kind = ReplyKind::kProgress;
  } else if (kind == "error") {
    reply.kind = ReplyKind::kError;
  } else if (kind != "result") {
    return invalid_argument("reply: unknown kind '" + kind + "'");
  }
  HONE_ASSIGN(Value header, from_msgpack(frames[2], kReplyLimits));
  reply.id = int_or(header, "id", -1);
  HONE_ASSIGN(reply.body, from_msgpack(frames[3], kReplyLimits));
  return reply;
}

Failure decode_failure(const Value& body) {
  Failure failure;
  failure.code = parse_code(text_or(body, "code"));
  failure.error_class = text_or(body, "class", "infra");
  failure.message = text_or(body, "message", "the server gave no reason");
  failure.retryable = bool_or(body, "retryable", is_retryable(failure.code));
  const double after_ms = number_or(body, "retry_after_ms", -1);
  if (after_ms >= 0) failure.retry_after_s = after_ms / 1000;
  return failure;
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

}  // namespace hone
