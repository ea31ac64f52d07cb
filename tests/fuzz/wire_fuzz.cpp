// Untrusted frames: requests as the server reads them, replies as a client reads them, and the MessagePack in
// them.
#include "fuzz/fuzz.hpp"
#include "wire/message.hpp"
#include "wire/requests.hpp"

namespace hone::fuzz {
namespace {

/// A length of two bytes before each frame.
wire::Frames frames_of(Input& input) {
  wire::Frames frames;
  while (!input.empty()) frames.emplace_back(input.piece(input.number(2)));
  return frames;
}

/// The server's, or ones so tight that small inputs reach them.
wire::Limits limits_of(bool tight) {
  wire::Limits limits;
  if (tight) {
    limits.frames_max = 5;
    limits.frame_bytes_max = 128;
    limits.message_bytes_max = 256;
    limits.header_bytes_max = 32;
    limits.codec = {.depth_max = 3, .items_max = 4, .values_max = 12, .bytes_max = 16};
  }
  return limits;
}

void check_limits(const Value& value, const CodecLimits& limits) {
  check(depth_of(value) <= limits.depth_max, "a decoded value is no deeper than allowed");
  check(count_of(value) <= limits.values_max, "a decoded value holds no more than allowed");
}

void check_codec(const std::string& frame, const CodecLimits& limits) {
  const auto value = from_msgpack(frame, limits);
  if (!value) return check_error(value.error(), "messagepack: ");
  check_limits(*value, limits);
  const std::string bytes = to_msgpack(*value);
  const auto again = from_msgpack(bytes, limits);
  check(again.ok() && same(*again, *value), "what was decoded decodes again to the same");
  check(to_msgpack(*again) == bytes, "equal values have equal bytes");
}

/// The reply to a refusal: what every client can read.
void check_refusal(const wire::Refusal& refusal) {
  check(refusal.id >= -1, "a refusal's id is one or none");
  check(refusal.error.code == Code::kInvalidArgument, "a bad message is invalid_argument");
  check_error(refusal.error);
  const wire::ErrorBody body = wire::error_body(refusal.error, 100);
  check(is_utf8(body.message), "an error that is sent is UTF-8");
  const auto value = from_msgpack(to_msgpack(to_value(body)));
  check(value.ok(), "an error that is sent can be decoded");
  const auto read = wire::error_body_from_value(*value);
  check(read && read->code == body.code && read->message == body.message,
        "an error arrives as it was sent");
}

template <typename Request>
void read_as(const Value& body) {
  if (const auto read = wire::read_request<Request>(body); !read) check_error(read.error());
}

template <typename... Requests>
void read_as_each(wire::RequestList<Requests...>, const Value& body) {
  (read_as<Requests>(body), ...);
}

void check_request(const wire::Frames& frames, const wire::Limits& limits) {
  auto decoded = wire::decode_request(wire::incoming(frames), limits);
  if (const auto* refusal = std::get_if<wire::Refusal>(&decoded)) return check_refusal(*refusal);
  const auto& request = std::get<wire::Request>(decoded);
  check(request.id >= 0 && request.body.is_map(), "a request has an id and a map");
  check(request.buffers.size() + 4 == frames.size() && frames.size() <= limits.frames_max,
        "a request has no more frames than allowed");
  check_limits(request.body, limits.codec);
  read_as_each(wire::AllRequests(), request.body);

  const auto again = wire::decode_request(wire::incoming(wire::encode_request(request)), {});
  const auto* same_request = std::get_if<wire::Request>(&again);
  check(same_request != nullptr, "a request that was decoded can be sent on");
  check(same_request->verb == request.verb && same_request->id == request.id &&
            same_request->deadline_ms == request.deadline_ms &&
            same(same_request->body, request.body) && same_request->buffers == request.buffers,
        "a request arrives as it was sent");
}

void check_reply(const wire::Frames& frames, const wire::Limits& limits) {
  const auto reply = wire::decode_reply(frames, limits);
  if (!reply) return check_error(reply.error());
  const auto again = wire::decode_reply(wire::encode_reply(*reply), {});
  check(again && again->kind == reply->kind && again->id == reply->id &&
            again->verb == reply->verb && again->body == reply->body &&
            again->buffers == reply->buffers,
        "a reply arrives as it was sent");
}

}  // namespace

void one(std::string_view bytes) {
  Input input(bytes);
  const wire::Limits limits = limits_of((input.number(1) & 1u) != 0);
  const wire::Frames frames = frames_of(input);
  for (const std::string& frame : frames) check_codec(frame, limits.codec);
  check_request(frames, limits);
  check_reply(frames, limits);
}

}  // namespace hone::fuzz
