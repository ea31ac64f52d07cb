// Sending a call, and waiting for its answer.
#include "judge/host_calls.hpp"

#include <string>

#include "channel/stream.hpp"

namespace hone {
namespace {

constexpr double kSendSeconds = 10;
// For the host, which may have other lanes to wait for: longer than it waits for them itself (device_lock.hpp). It closes where
// it gives up.
constexpr double kHostSeconds = 3600;

}  // namespace

void HostCalls::send(const JudgeCall& call) const {
  static_cast<void>(send_message(socket_, write_message(call), {}, kSendSeconds));
}

void HostCalls::reply(const JudgeReply& reply) const {
  static_cast<void>(send_message(socket_, write_message(reply), {}, kSendSeconds));
}

template <typename Expected>
Result<Expected> HostCalls::receive() const {
  const std::string name(Expected::kName);
  auto message = receive_message(socket_, kReplyBytesMax, kHostSeconds);
  if (!message) return message.error().in("wait for the host's answer '" + name + "'");
  HONE_ASSIGN(const HostAnswer answer, read_answer(message->bytes));
  if (const auto* expected = std::get_if<Expected>(&answer)) return *expected;
  return internal_error("found the host's answer '" + std::string(name_of(answer)) +
                        "', expected '" + name + "'");
}

Result<bool> HostCalls::quiet() const {
  send(QuietCall{});
  HONE_ASSIGN(const QuietAnswer answer, receive<QuietAnswer>());
  return answer.others;
}

Status HostCalls::share() const {
  send(ShareCall{});
  const auto answer = receive<ShareAnswer>();
  return answer ? Status() : Status(answer.error());
}

Status HostCalls::yield() const {
  send(YieldCall{});
  const auto answer = receive<YieldAnswer>();
  return answer ? Status() : Status(answer.error());
}

Status HostCalls::await_end() const {
  const auto answer = receive<EndedAnswer>();
  return answer ? Status() : Status(answer.error());
}

}  // namespace hone
