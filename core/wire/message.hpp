// Messages of hone/1 as plain structs, and their codec to and from frames. No transport:
// docs/protocol.md in code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone::wire {

/// The frames of one message, without a routing id.
using Frames = std::vector<std::string>;

inline constexpr std::string_view kProtocol = "hone/1";

/// Limits of a receiver. hello publishes them, so that a client can check before it sends.
struct Limits {
  std::size_t frames_max = 16;
  std::size_t frame_bytes_max = 4u << 20;
  std::size_t message_bytes_max = 16u << 20;
  std::size_t header_bytes_max = 1024;
  CodecLimits codec;
};

/// A message as it was read. A reader keeps no more frames than the limits allow, but counts all.
struct Incoming {
  Frames frames;
  std::size_t frame_count = 0;
  std::size_t bytes = 0;
};
Incoming incoming(Frames frames);

struct Request {
  std::string verb;
  std::int64_t id = 0;
  std::optional<std::int64_t> deadline_ms;
  Value body = Value::map();
  std::vector<std::string> buffers;
};

/// The error of a malformed request, with the header members that could be read.
struct Refusal {
  std::int64_t id = -1;  ///< -1: no id could be read
  std::string verb;
  Error error;
};

Frames encode_request(const Request& request);
/// Strict: unknown header members, a body that is no map and anything over a limit are refused.
std::variant<Request, Refusal> decode_request(Incoming message, const Limits& limits);

/// kGoingAway answers no request: it has the id -1 and no verb.
enum class ReplyKind { kAccepted, kProgress, kResult, kError, kGoingAway };
std::string_view kind_name(ReplyKind kind);  ///< "accepted", …

struct Reply {
  ReplyKind kind = ReplyKind::kResult;
  std::int64_t id = -1;
  std::string verb;
  std::string body;  ///< MessagePack of a map
  std::vector<std::string> buffers;
};

Frames encode_reply(Reply reply);
/// Lenient, as every client should be: unknown members are ignored.
Result<Reply> decode_reply(Frames frames, const Limits& limits);

/// The body of an error reply.
struct ErrorBody {
  Code code = Code::kInternal;
  std::string error_class;  ///< protocol, task, capacity, timeout, cancelled or infra
  std::string message;
  bool retryable = false;
  std::optional<std::int64_t> retry_after_ms;
  bool shutting_down = false;  ///< the server is shutting down; send the request to the next one
  std::optional<std::int64_t> drain_ms =
      {};                  ///< with shutting_down: the server ends within this time
  std::string cause = {};  ///< a name of error_cause.hpp; another one: a newer server
};

/// Who has to act on an error with this code.
std::string_view error_class(Code code);
/// Sets `retry_after_ms` only for resource_exhausted.
ErrorBody error_body(const Error& error, std::int64_t retry_after_ms);
Value to_value(const ErrorBody& body);
Result<ErrorBody> error_body_from_value(const Value& value);

/// The body of a hello reply.
struct Welcome {
  std::string server;
  std::string incarnation;  ///< another one: the server was started anew
  std::vector<std::string> verbs;
  std::string control;           ///< endpoint; empty: none
  std::string client{}, role{};  ///< client name from the key; empty: no CURVE
  double heartbeat_s = 0;
  Limits limits;
  std::size_t source_bytes = 0, response_bytes = 0, in_flight = 0, episodes = 0;
  Value capabilities;  ///< environments, backends, isolation, fingerprint, lease_s
};
Value to_value(const Welcome& welcome);

}  // namespace hone::wire
