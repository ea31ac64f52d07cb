// What the client adds to the codec of core/wire: failures for callers, and lenient reading of
// replies.
#pragma once

#include <cstdint>
#include <string>

#include "hone/client.hpp"
#include "wire/message.hpp"

namespace hone::inline client_api {

using wire::Frames;
using wire::ReplyKind;

struct ReplyMessage {
  ReplyKind kind = ReplyKind::kResult;
  std::int64_t id = -1;
  Value body;
};

/// invalid_argument: what is wrong with the frames. Unknown keys are ignored.
Result<ReplyMessage> read_reply(Frames frames);

/// The body of an error reply as a Failure; unknown codes count as internal.
Failure read_failure(const Value& body);

/// Failures that the client itself finds.
Failure no_server(std::string message, bool retryable = true);
Failure given_up(std::string message);
Failure protocol_failure(Code code, std::string message);

/// A member of a map, or the fallback where it is missing or of another type.
std::string text_or(const Value& map, std::string_view key, std::string fallback = {});
std::int64_t int_or(const Value& map, std::string_view key, std::int64_t fallback);
double number_or(const Value& map, std::string_view key, double fallback);
bool bool_or(const Value& map, std::string_view key, bool fallback);

}  // namespace hone::inline client_api
