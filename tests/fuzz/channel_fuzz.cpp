// Bytes on hone's internal sockets: streams of judges, builders and plugin hosts, the judge protocol, and the
// launcher's packets.
#include <sys/socket.h>
#include <unistd.h>

#include "channel/stream.hpp"
#include "fuzz/fuzz.hpp"
#include "judge_protocol/messages.hpp"
#include "sandbox/messages.hpp"

namespace hone::fuzz {
namespace {

constexpr std::size_t kMessageMax = 1u << 16;

/// Whatever a peer writes before it hangs up: a message within the limit, or an error.
std::string check_stream(std::string_view bytes) {
  auto ends = stream_pair();
  check(ends.ok(), "a pair of sockets");
  const std::string_view sent = bytes.substr(0, kMessageMax);
  check(::send(ends->first.get(), sent.data(), sent.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(sent.size()),
        "a socket takes it all");
  ends->first.reset();
  // The other side has closed: nothing waits, so the time is never used up.
  const auto message = receive_message(ends->second.get(), kMessageMax, 30);
  if (!message) {
    check_error(message.error(), "message: ");
    check(message.error().code != Code::kDeadlineExceeded, "a peer that is gone is not waited for");
    return {};
  }
  check(message->bytes.size() <= kMessageMax && message->fds.empty(), "a message is bounded");
  check(sent.substr(16, message->bytes.size()) == message->bytes, "a message is what was sent");
  return message->bytes;
}

std::string write_message(const JudgeMessage& message) {
  return std::visit([](const auto& one) { return hone::write_message(one); }, message);
}

template <typename Message>
void check_arrives(const Result<Message>& read, Result<Message> (*read_again)(std::string_view)) {
  if (!read) return check_error(read.error());
  const std::string written = write_message(*read);
  const auto again = read_again(written);
  check(again && write_message(*again) == written, "a message arrives as it was sent");
}

void check_judge_protocol(std::string_view bytes) {
  check_arrives(read_request(bytes), read_request);
  check_arrives(read_judge_message(bytes), read_judge_message);
  check_arrives(read_answer(bytes), read_answer);
}

template <typename Message>
void check_packet(std::string_view bytes, Message (*get)(PacketReader&)) {
  PacketReader reader(bytes);
  const Message message = get(reader);
  if (!reader.done()) return;
  PacketWriter writer;
  put(writer, message);
  check(writer.take() == bytes, "a packet that is taken means what it says");
}

/// Its output follows the packet, and is not written by put().
void check_exit(std::string_view bytes) {
  PacketReader reader(bytes);
  const ProcessExit exit = get_exit(reader);
  if (!reader.done()) return;
  PacketWriter writer;
  put(writer, exit, exit.output.size());
  check(writer.take() + exit.output == bytes, "how a process ended means what it says");
}

}  // namespace

void one(std::string_view bytes) {
  Input input(bytes);
  switch (input.number(1) % 6) {
    case 0:
      return check_judge_protocol(check_stream(input.rest()));
    case 1:
      return check_judge_protocol(input.rest());
    case 2:
      return check_packet(input.rest(), get_options);
    case 3:
      return check_packet(input.rest(), get_ready);
    case 4:
      return check_packet(input.rest(), get_request);
    default:
      return check_exit(input.rest());
  }
}

}  // namespace hone::fuzz
