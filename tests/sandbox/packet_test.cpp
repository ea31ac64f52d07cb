// Packets and messages: round trips, bounds, descriptors.
#include "sandbox/packet.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <limits>

#include "sandbox/messages.hpp"

namespace hone {
namespace {

struct Pair {
  Pair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    a.reset(ends[0]);
    b.reset(ends[1]);
  }
  UniqueFd a, b;
};

TEST(Packet, WrittenValues_AreReadBack) {
  PacketWriter writer;
  writer.number(-5).real(0.25).text("x\0y").texts({"", "two"});
  const std::string bytes = writer.take();
  PacketReader reader(bytes);
  EXPECT_EQ(reader.number(), -5);
  EXPECT_EQ(reader.real(), 0.25);
  EXPECT_EQ(reader.text(), "x\0y");
  EXPECT_EQ(reader.texts(), (std::vector<std::string>{"", "two"}));
  EXPECT_TRUE(reader.done());
}

TEST(Packet, TruncatedPacket_IsDetected) {
  PacketWriter writer;
  put(writer, SpawnRequest{});
  const std::string bytes = writer.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    PacketReader reader(std::string_view(bytes).substr(0, size));
    (void)get_request(reader);
    EXPECT_FALSE(reader.done()) << size;
  }
}

TEST(Packet, WrongLength_ReadsAsEmpty) {
  for (const std::int64_t size :
       {std::int64_t{-1}, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min()}) {
    PacketWriter writer;
    writer.number(size);
    const std::string bytes = writer.take();
    PacketReader text(bytes), texts(bytes);
    EXPECT_EQ(text.text(), "");
    EXPECT_FALSE(text.ok());
    EXPECT_TRUE(texts.texts().empty());
    EXPECT_FALSE(texts.ok());
  }
}

TEST(Packet, Descriptors_Arrive) {
  const Pair pair;
  const int fds[] = {0, 1};
  ASSERT_TRUE(send_packet(pair.a.get(), "hello", fds));
  const auto packet = receive_packet(pair.b.get());
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->bytes, "hello");
  EXPECT_EQ(packet->fds.size(), 2u);
  EXPECT_FALSE(packet->end);
}

TEST(Packet, TooLarge_IsRefused) {
  const Pair pair;
  const Status sent = send_packet(pair.a.get(), std::string(kPacketBytesMax + 1, 'x'), {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message,
            "packet of 131073 bytes and 0 descriptors, at most 131072 and 200 allowed");
}

TEST(Packet, EndAndFullSocket_AreReported) {
  Pair pair;
  ASSERT_TRUE(send_packet(pair.a.get(), std::string(kPacketBytesMax, 'x'), {}));
  pair.a.reset();
  EXPECT_EQ(receive_packet(pair.b.get())->bytes.size(), kPacketBytesMax);
  EXPECT_TRUE(receive_packet(pair.b.get())->end);
  EXPECT_EQ(send_packet(pair.b.get(), "x", {}).error().code, Code::kUnavailable);
}

TEST(Messages, EachMessage_IsReadBack) {
  SpawnRequest request;
  request.jail = Jail::kBuilder;
  request.label = "b";
  request.program = "/bin/true";
  request.arguments = {"1", "2"};
  request.cpus = {0, 3};
  request.limits = {1, 2.5, 3, 4};
  request.readable = {"/x"};
  PacketWriter writer;
  put(writer, request);
  const std::string bytes = writer.take();
  PacketReader reader(bytes);
  const SpawnRequest back = get_request(reader);
  EXPECT_TRUE(reader.done());
  PacketWriter again;
  put(again, back);
  EXPECT_EQ(again.take(), bytes);
}

/// Found by fuzzing: numbers were cut to 32 bits, and an isolation level of 4294967297 was taken for
/// one; a level of 9 would have been looked up beyond the end of their names.
TEST(Messages, EnumOutOfRange_IsMalformed) {
  PacketWriter writer;
  put(writer, LauncherOptions{});
  const std::string good = writer.take();
  for (const std::int64_t level :
       {std::int64_t{9}, std::int64_t{-1}, (std::int64_t{1} << 32) + 1}) {
    PacketWriter wrong;
    wrong.number(level);
    const std::string bytes = wrong.take() + good.substr(8);
    PacketReader reader(bytes);
    const LauncherOptions options = get_options(reader);
    EXPECT_FALSE(reader.done()) << level;
    EXPECT_EQ(options.minimum, IsolationLevel::kNone);
  }
  PacketReader reader(good);
  static_cast<void>(get_options(reader));
  EXPECT_TRUE(reader.done());
}

/// Found by fuzzing: a negative count of processors was taken for none.
TEST(Messages, NegativeCount_IsMalformed) {
  SpawnRequest request;
  request.label = "label", request.program = "/bin/true";
  PacketWriter writer;
  put(writer, request);
  std::string bytes = writer.take();
  const std::size_t arguments = 8 + 8 + request.label.size() + 8 + request.program.string().size();
  for (const std::size_t at : {arguments, arguments + 8}) {  // how many arguments, processors
    std::string wrong = bytes;
    wrong.replace(at, 8, 8, '\xff');
    PacketReader reader(wrong);
    static_cast<void>(get_request(reader));
    EXPECT_FALSE(reader.ok()) << at;
  }
  PacketReader reader(bytes);
  static_cast<void>(get_request(reader));
  EXPECT_TRUE(reader.done());
}

}  // namespace
}  // namespace hone
