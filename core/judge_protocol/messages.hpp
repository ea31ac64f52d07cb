// Messages between the host and a judge as bytes of a stream (channel/stream.hpp). Both sides are trusted.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"
#include "judge_protocol/calls.hpp"
#include "judge_protocol/replies.hpp"
#include "judge_protocol/requests.hpp"

namespace hone {

// Theory of operation. The host sends one request at a time. While the judge works on it, the judge may send calls. The
// host answers each before the judge goes on. The reply ends the request. "drop", "forget" and "trim" have no reply.
//
// A message is a map. Its kind is the value of "request", "reply", "call" or "answer"; the other members are the fields of the
// struct with that kName. A field that is missing, unknown or of another type is an error that names it. A field of type
// std::optional may be absent.
//
// A process travels as its descriptors: socket, artifact, pidfd and, with cgroups, freeze and frozen_events.

/// The most bytes of a request, and of a message to the host.
inline constexpr std::size_t kRequestBytesMax = 16u << 20, kReplyBytesMax = 1u << 20;

using JudgeMessage = std::variant<JudgeReply, JudgeCall>;

std::string write_message(const HostRequest& request);
std::string write_message(const JudgeReply& reply);
std::string write_message(const JudgeCall& call);
std::string write_message(const HostAnswer& answer);

Result<HostRequest> read_request(std::string_view bytes);
Result<JudgeMessage> read_judge_message(std::string_view bytes);
Result<HostAnswer> read_answer(std::string_view bytes);

/// The kName of what a variant holds.
template <typename Message>
std::string_view name_of(const Message& message) {
  return std::visit([](const auto& one) { return one.kName; }, message);
}

}  // namespace hone
