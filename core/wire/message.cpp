// Frames to structs and back, with every limit checked before anything is decoded.
#include "wire/message.hpp"

#include <algorithm>
#include <limits>

#include "model/fields.hpp"

namespace hone::wire {
namespace {

constexpr std::int64_t kDeadlineMsMax = 7LL * 24 * 3600 * 1000;
constexpr std::size_t kVerbBytesMax = 32;
constexpr CodecLimits kHeaderLimits{
    .depth_max = 2, .items_max = 8, .values_max = 16, .bytes_max = 64};

/// Makes untrusted bytes safe for an error message: short, printable ASCII.
std::string shown(std::string_view bytes) {
  std::string out;
  for (const char c : bytes.substr(0, kVerbBytesMax)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return bytes.size() > kVerbBytesMax ? out + "…" : out;
}

Error too_many(std::string_view what, std::size_t found, std::size_t allowed) {
  return invalid_argument("message: found " + std::to_string(found) + " " + std::string(what) +
                          ", at most " + std::to_string(allowed) + " allowed");
}

Status check_size(const Incoming& message, const Limits& limits) {
  if (message.frame_count > limits.frames_max) {
    return too_many("frames", message.frame_count, limits.frames_max);
  }
  for (const std::string& frame : message.frames) {
    if (frame.size() > limits.frame_bytes_max) {
      return too_many("bytes in a frame", frame.size(), limits.frame_bytes_max);
    }
  }
  if (message.bytes > limits.message_bytes_max) {
    return too_many("bytes", message.bytes, limits.message_bytes_max);
  }
  return {};
}

Status check_magic(const Frames& frames) {
  if (frames.empty() || frames[0] != kProtocol) {
    return invalid_argument("first frame: found '" + (frames.empty() ? "" : shown(frames[0])) +
                            "', this server speaks " + std::string(kProtocol));
  }
  return {};
}

struct Header {
  std::int64_t id = -1;
  std::optional<std::int64_t> deadline_ms;
};

/// Fills in the id as soon as it is known, so that a mistake further on can be answered to it.
Status read_header(const std::string& frame, const Limits& limits, Header& header) {
  if (frame.size() > limits.header_bytes_max) {
    return too_many("bytes of header", frame.size(), limits.header_bytes_max);
  }
  auto decoded = from_msgpack(frame, kHeaderLimits);
  if (!decoded) return decoded.error().in("header");
  if (!decoded->is_map()) {
    return invalid_argument("header: found " + std::string(decoded->type_name()) +
                            ", expected a map");
  }
  const Value* id = decoded->find("id");
  if (id != nullptr && id->is_int() && id->as_int() >= 0) header.id = id->as_int();
  Fields fields(*decoded, "header");
  fields.integer("id", 0, std::numeric_limits<std::int64_t>::max());
  const std::int64_t deadline_ms = fields.integer_or("deadline_ms", 0, 1, kDeadlineMsMax);
  if (deadline_ms > 0) header.deadline_ms = deadline_ms;
  return fields.finish();
}

Status read_request(Incoming& message, const Limits& limits, Header& header, Request& request) {
  HONE_TRY(check_magic(message.frames));
  // The header first: whatever else is wrong can then be answered to its id.
  if (message.frames.size() > 2) HONE_TRY(read_header(message.frames[2], limits, header));
  HONE_TRY(check_size(message, limits));
  if (message.frames.size() < 4) {
    return invalid_argument("message: found " + std::to_string(message.frames.size()) +
                            " frames, expected hone/1, verb, header, body and any buffers");
  }
  auto body = from_msgpack(message.frames[3], limits.codec);
  if (!body) return body.error().in("body");
  if (!body->is_map()) {
    return invalid_argument("body: found " + std::string(body->type_name()) + ", expected a map");
  }
  request.body = std::move(*body);
  request.id = header.id;
  request.deadline_ms = header.deadline_ms;
  request.verb = std::move(message.frames[1]);
  request.buffers.assign(std::make_move_iterator(message.frames.begin() + 4),
                         std::make_move_iterator(message.frames.end()));
  return {};
}

}  // namespace

Incoming incoming(Frames frames) {
  Incoming message{.frames = std::move(frames), .frame_count = 0, .bytes = 0};
  message.frame_count = message.frames.size();
  for (const std::string& frame : message.frames) message.bytes += frame.size();
  return message;
}

Frames encode_request(const Request& request) {
  Value header = Value::map({{"id", request.id}});
  if (request.deadline_ms) header.set("deadline_ms", *request.deadline_ms);
  Frames frames{std::string(kProtocol), request.verb, to_msgpack(header), to_msgpack(request.body)};
  frames.insert(frames.end(), request.buffers.begin(), request.buffers.end());
  return frames;
}

std::variant<Request, Refusal> decode_request(Incoming message, const Limits& limits) {
  Header header;
  Request request;
  const std::string verb = message.frames.size() > 1 ? shown(message.frames[1]) : "";
  if (Status status = read_request(message, limits, header, request); !status) {
    return Refusal{header.id, verb, status.error()};
  }
  return request;
}

std::string_view kind_name(ReplyKind kind) {
  static constexpr std::string_view kNames[] = {"accepted", "progress", "result", "error",
                                                "going_away"};
  return kNames[static_cast<std::size_t>(kind)];
}

Frames encode_reply(Reply reply) {
  Frames frames;
  frames.reserve(4 + reply.buffers.size());
  frames.emplace_back(kProtocol);
  frames.emplace_back(kind_name(reply.kind));
  frames.push_back(to_msgpack(Value::map({{"id", reply.id}, {"verb", std::move(reply.verb)}})));
  frames.push_back(std::move(reply.body));
  for (std::string& buffer : reply.buffers) frames.push_back(std::move(buffer));
  return frames;
}

Result<Reply> decode_reply(Frames frames, const Limits& limits) {
  HONE_TRY(check_magic(frames));
  if (frames.size() < 4) {
    return invalid_argument("reply: found " + std::to_string(frames.size()) +
                            " frames, expected at least 4");
  }
  Reply reply;
  bool known = false;
  for (const ReplyKind kind : {ReplyKind::kAccepted, ReplyKind::kProgress, ReplyKind::kResult,
                               ReplyKind::kError, ReplyKind::kGoingAway}) {
    if (frames[1] != kind_name(kind)) continue;
    reply.kind = kind;
    known = true;
  }
  if (!known) return invalid_argument("reply: unknown kind '" + shown(frames[1]) + "'");
  HONE_ASSIGN(const Value header, from_msgpack(frames[2], limits.codec));
  Fields fields(header, "reply header");
  reply.id = fields.integer("id", -1, std::numeric_limits<std::int64_t>::max());
  reply.verb = fields.text_or("verb", "");
  HONE_TRY(fields.finish_loosely());
  reply.body = std::move(frames[3]);
  reply.buffers.assign(std::make_move_iterator(frames.begin() + 4),
                       std::make_move_iterator(frames.end()));
  return reply;
}

}  // namespace hone::wire
