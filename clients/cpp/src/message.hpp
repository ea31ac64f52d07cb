// hone/1 frames as the client writes and reads them (docs/protocol.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/client.hpp"
#include "link.hpp"

namespace hone {

inline constexpr const char* kProtocol = "hone/1";

/// deadline_ms ≤ 0: none.
Frames encode_request(const std::string& verb, std::int64_t id, std::int64_t deadline_ms,
                      const std::string& body, const std::vector<std::string>& buffers);

enum class ReplyKind { kAccepted, kProgress, kResult, kError };

struct ReplyMessage {
  ReplyKind kind = ReplyKind::kResult;
  std::int64_t id = -1;
  Value body;
};

/// invalid_argument: what is wrong with the frames. Unknown keys are ignored.
Result<ReplyMessage> decode_reply(const Frames& frames);

/// The body of an error reply as a Failure; unknown codes count as internal.
Failure decode_failure(const Value& body);

/// A member of a map, or the fallback where it is missing or of another type.
std::string text_or(const Value& map, std::string_view key, std::string fallback = {});
std::int64_t int_or(const Value& map, std::string_view key, std::int64_t fallback);
double number_or(const Value& map, std::string_view key, double fallback);
bool bool_or(const Value& map, std::string_view key, bool fallback);

}  // namespace hone
